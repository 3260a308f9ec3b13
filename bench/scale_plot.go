// SPDX-License-Identifier: Apache-2.0

//go:build plot

package main

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// draw makes a row for each curve: its cost, and what it allocates.
func (r *scaleReport) draw(format string) (vg.CanvasWriterTo, error) {
	var rows [][]*plot.Plot
	for _, v := range r.Curves {
		cost, err := v.plot(v.Name+": "+v.Unit, func(f scaled) float64 { return f.Cost }, true)
		if err != nil {
			return nil, err
		}
		allocated, err := v.plot(v.Name+": allocated B/request", func(f scaled) float64 { return f.Allocated }, false)
		if err != nil {
			return nil, err
		}
		rows = append(rows, []*plot.Plot{cost, allocated})
	}
	return grid(rows, format, 14*vg.Centimeter, vg.Centimeter, 16)
}

// plot draws a figure over what grows, both on logarithmic axes, with how far the rounds
// were apart; cliffs in red if they are of this figure.
func (v *curve) plot(title string, of func(f scaled) float64, cliffs bool) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text = title, v.Axis
	p.X.Scale, p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogScale{}, plot.LogTicks{Prec: -1}
	line, ticks := plotter.XYs{}, plot.ConstantTicks{}
	for _, at := range v.Points {
		s := at.spread(of)
		x := float64(at.At)
		line, ticks = append(line, plotter.XY{X: x, Y: s.Median}), append(ticks, plot.Tick{Value: x, Label: v.label(at.At)})
		if err := mark(p, x, s, cliffs && at.Cliff); err != nil {
			return nil, err
		}
	}
	p.X.Tick.Marker = ticks
	l, err := plotter.NewLine(line)
	if err != nil {
		return nil, err
	}
	l.Color, l.Width = color.RGBA{0x4c, 0x78, 0xa8, 0xff}, vg.Points(1.5)
	p.Add(plotter.NewGrid(), l)
	p.X.Min, p.X.Max = ticks[0].Value*0.8, ticks[len(ticks)-1].Value*1.25
	p.Y.Min = math.Pow(10, math.Floor(math.Log10(p.Y.Min)))
	p.Y.Max = math.Pow(10, math.Ceil(math.Log10(p.Y.Max*1.01)))
	return p, nil
}

// spread is that of the rounds. A logarithm has no place for nothing.
func (p *point) spread(of func(f scaled) float64) spread {
	var values []float64
	for _, f := range p.Rounds {
		values = append(values, max(of(f), 1e-6))
	}
	return newSpread(values)
}

// mark draws a point with its rounds' spread and its number.
func mark(p *plot.Plot, x float64, s spread, cliff bool) error {
	between, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{plotter.XYs{{X: x, Y: s.Median}}, plotter.YErrors{{Low: s.Min - s.Median, High: s.Max - s.Median}}})
	if err != nil {
		return err
	}
	text, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: s.Max}}, Labels: []string{number(s.Median)}})
	if err != nil {
		return err
	}
	text.TextStyle[0].XAlign, text.Offset.Y = draw.XCenter, vg.Points(4)
	dot, err := plotter.NewScatter(plotter.XYs{{X: x, Y: s.Median}})
	if err != nil {
		return err
	}
	dot.Shape, dot.Color, dot.Radius = draw.CircleGlyph{}, color.RGBA{0x4c, 0x78, 0xa8, 0xff}, vg.Points(2.5)
	if cliff {
		dot.Color, dot.Radius = color.RGBA{0xd6, 0x27, 0x28, 0xff}, vg.Points(4)
	}
	p.Add(between, text, dot)
	return nil
}
