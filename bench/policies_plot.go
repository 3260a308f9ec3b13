// SPDX-License-Identifier: Apache-2.0

//go:build plot

package main

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/corepipe/corepipe/bench/replay"
)

// chart is a column of a drawing: what its bars show.
type chart struct {
	title string
	of    func(r *replay.Result) float64
	label func(v float64) string
	cut   bool // bars that are much longer than others
}

func charts() []chart {
	seconds := func(v float64) string { return number(v) + " s" }
	return []chart{
		{"first token, p99", func(r *replay.Result) float64 { return r.TTFT.P99 / 1000 }, seconds, true},
		{"first token, median", func(r *replay.Result) float64 { return r.TTFT.P50 / 1000 }, seconds, true},
		{"end to end, p99", func(r *replay.Result) float64 { return r.E2E.P99 / 1000 }, seconds, true},
		{"max/mean outstanding", func(r *replay.Result) float64 { return r.MaxMean }, twoDigits, true},
		{"prefix hits", func(r *replay.Result) float64 { return r.PrefixHits }, percent, false},
	}
}

// draw makes a row of charts for each scenario.
func (a *comparison) draw(format string) (vg.CanvasWriterTo, error) {
	columns := charts()
	var rows [][]*plot.Plot
	for _, s := range a.Scenarios {
		var row []*plot.Plot
		for i, c := range columns {
			p, err := c.plot(s, i == 0)
			if err != nil {
				return nil, err
			}
			row = append(row, p)
		}
		rows = append(rows, row)
	}
	return grid(rows, format, 8*vg.Centimeter, vg.Centimeter, len(a.Scenarios[0].Results)+5)
}

// plot makes one chart, with the policies' names if it is the first of its row.
func (c chart) plot(s *compared, named bool) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = c.title
	if named {
		p.Title.Text = s.Name + ": " + c.title
	}
	var values []float64
	var names []string
	for _, r := range slices.Backward(s.Results) { // the lowest bar is the first
		values, names = append(values, c.of(r)), append(names, r.Policy)
		if !named {
			names[len(names)-1] = ""
		}
	}
	p.NominalY(names...)
	p.X.Min, p.X.Max = 0, c.limit(values)
	p.Y.Min, p.Y.Max = -0.6, float64(len(values))-0.2
	p.X.Tick.Marker = plot.ConstantTicks(nil)
	p.X.Width, p.Y.Width = 0, 0
	for i, v := range values {
		if err := c.bar(p, i, v, i == len(values)-1); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// limit is where the axis ends.
func (c chart) limit(values []float64) float64 {
	const label = 1.3 // room for it
	sorted := slices.Sorted(slices.Values(values))
	most := sorted[len(sorted)-1]
	if middle := sorted[len(sorted)/2]; c.cut && middle > 0 {
		most = min(most, 3*middle)
	}
	if most <= 0 {
		most = 1
	}
	return label * most
}

// bar draws a value and says what it is.
func (c chart) bar(p *plot.Plot, i int, v float64, first bool) error {
	end, label := v, " "+c.label(v)
	if most := p.X.Max / 1.3; v > most*(1+1e-9) {
		end, label = most, label+" »"
	}
	bar, err := plotter.NewBarChart(plotter.Values{end}, 0.35*vg.Centimeter)
	if err != nil {
		return err
	}
	bar.Horizontal, bar.XMin, bar.LineStyle.Width = true, float64(i), 0
	bar.Color = color.RGBA{0x4c, 0x78, 0xa8, 0xff}
	if first { // what the others are compared with
		bar.Color = color.RGBA{0x9a, 0x9a, 0x9a, 0xff}
	}
	text, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: end, Y: float64(i)}}, Labels: []string{label}})
	if err != nil {
		return err
	}
	text.TextStyle[0].YAlign = draw.YCenter
	p.Add(bar, text)
	return nil
}
