// SPDX-License-Identifier: Apache-2.0

//go:build plot

package main

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bars is a column of the drawing: a figure of each client.
type bars struct {
	title string
	of    func(f figures) float64
}

// draw makes a row for each block: its words, and under them a chart of each figure.
func (r *report) draw(format string) (vg.CanvasWriterTo, error) {
	columns := []bars{
		{"CPU, µs a request", func(f figures) float64 { return f.CPURequest }},
		{"requests a second", func(f figures) float64 { return f.RequestsPerSecond }},
		{"end to end, ms, median", func(f figures) float64 { return f.E2E.P50 }},
	}
	var rows [][]*plot.Plot
	for _, b := range r.Blocks {
		var row []*plot.Plot
		for i, c := range columns {
			p, err := c.plot(b, i == 0)
			if err != nil {
				return nil, err
			}
			row = append(row, p)
		}
		rows = append(rows, row)
	}
	return grid(rows, format, 10*vg.Centimeter, 0.6*vg.Centimeter, len(r.Blocks[0].Clients)+5)
}

// plot makes one chart, with the clients' names if it is the first of its row.
func (c bars) plot(b *block, first bool) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "\n" + c.title
	if first {
		p.Title.Text = fmt.Sprintf("%d × (%d → %d), engines: %d, %s, step %v\n%s",
			b.Requests, b.PromptTokens, b.OutputTokens, b.Engines, b.Transport, b.step(), c.title)
	}
	n := len(b.Clients)
	names := make([]string, n)
	most := 0.0
	for i, r := range b.Clients {
		if first {
			names[n-1-i] = r.heading() // the lowest bar is the last
		}
		most = max(most, c.spread(r).Max)
	}
	p.NominalY(names...)
	p.X.Min, p.X.Max = 0, 1.25*most // room for the numbers
	p.Y.Min, p.Y.Max = -0.6, float64(n)-0.2
	p.X.Tick.Marker = plot.ConstantTicks(nil)
	p.X.Width, p.Y.Width = 0, 0
	for i, r := range b.Clients {
		if err := c.bar(p, float64(n-1-i), r); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// spread is that of a client's rounds.
func (c bars) spread(r *clientRounds) spread {
	var values []float64
	for _, f := range r.Rounds {
		values = append(values, c.of(f))
	}
	return newSpread(values)
}

// bar draws the median, how far the rounds were apart, and the number.
func (c bars) bar(p *plot.Plot, at float64, r *clientRounds) error {
	s := c.spread(r)
	bar, err := plotter.NewBarChart(plotter.Values{s.Median}, 0.35*vg.Centimeter)
	if err != nil {
		return err
	}
	bar.Horizontal, bar.XMin, bar.LineStyle.Width, bar.Color = true, at, 0, fill(r)
	between, err := plotter.NewXErrorBars(struct {
		plotter.XYs
		plotter.XErrors
	}{plotter.XYs{{X: s.Median, Y: at}}, plotter.XErrors{{Low: s.Min - s.Median, High: s.Max - s.Median}}})
	if err != nil {
		return err
	}
	text, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: s.Max, Y: at}}, Labels: []string{"  " + number(s.Median)}})
	if err != nil {
		return err
	}
	text.TextStyle[0].YAlign = draw.YCenter
	p.Add(bar, between, text)
	return nil
}

// fill tells ours from others, and what is not to be compared from both.
func fill(r *clientRounds) color.Color {
	switch r.Name {
	case "floor", "vllm":
		return color.RGBA{0x9a, 0x9a, 0x9a, 0xff}
	case "memory":
		return color.RGBA{0xb8, 0xcd, 0xe3, 0xff}
	}
	return color.RGBA{0x4c, 0x78, 0xa8, 0xff}
}
