// SPDX-License-Identifier: Apache-2.0

//go:build plot

package main

import (
	"errors"
	"image/color"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	_ "gonum.org/v1/plot/vg/vgimg" // PNG
	_ "gonum.org/v1/plot/vg/vgsvg" // SVG
)

// drawable is a result that can be drawn, in the format of a file's ending.
type drawable interface {
	draw(format string) (vg.CanvasWriterTo, error)
}

// newDrawing is what draws a result to --plot, or nowhere for "".
func newDrawing(path, _ string) (func(r drawable) error, error) {
	if path == "" {
		return func(drawable) error { return nil }, nil
	}
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if format != "svg" && format != "png" {
		return nil, &usageError{"--plot", errors.New("must end in .svg or .png")}
	}
	return func(r drawable) error {
		canvas, err := r.draw(format)
		if err != nil {
			return err
		}
		return writeFile(path, func(w io.Writer) error {
			_, err := canvas.WriteTo(w)
			return err
		})
	}, nil
}

// grid draws rows of charts, each column so wide and each row as high as lines of
// text, with space between the rows.
func grid(rows [][]*plot.Plot, format string, column, space vg.Length, lines int) (vg.CanvasWriterTo, error) {
	columns := len(rows[0])
	height := vg.Length(len(rows)) * vg.Length(lines) * 0.5 * vg.Centimeter
	canvas, err := draw.NewFormattedCanvas(vg.Length(columns)*column, height, format)
	if err != nil {
		return nil, err
	}
	tiles := draw.Tiles{
		Rows: len(rows), Cols: columns, PadX: vg.Centimeter, PadY: space,
		PadTop: 10, PadBottom: 10, PadLeft: 10, PadRight: 10,
	}
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Path())
	for i, row := range plot.Align(rows, tiles, whole) {
		for j, at := range row {
			rows[i][j].Draw(at)
		}
	}
	return canvas, nil
}
