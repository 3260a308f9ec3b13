package main

import (
	"context"
	"fmt"
	"log"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport/inproc"
)

func main() {
	ctx := context.Background()
	client, err := pipeline.Connect(ctx, pipeline.Config{
		Transport: new(inproc.Network), Launch: engine.Cores{&engine.Sim{}}, // a simulated engine, in memory
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	request := &codec.Request{ID: "hello", Prompt: []uint32{1, 2, 3}, Sampling: &codec.SamplingParams{MaxTokens: 4}}
	stream, err := client.Submit(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	for output, err := range stream.All(ctx) {
		fmt.Println(output.Tokens, output.Finish, err)
	}
}
