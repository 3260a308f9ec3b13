// SPDX-License-Identifier: Apache-2.0

// Package wire shows the messages between vLLM's clients and engines as JSON
// with field names, and makes messages of such JSON. It is what the command
// "bench wire" runs: a tool for people who look at captured traffic, so it shows
// what is there, also where no peer would accept it, and Check says what they
// would object to.
//
// The way there is Decode, which gives a Message, and Message.Append, which
// writes it as JSON. The way back is Parse and Message.Frames. Both ways keep
// the meaning of every value, not its bytes: integers and lengths may be written
// shorter than they came, 32-bit floats come back as 64-bit ones.
//
// # The JSON
//
// A document names the kind of message and the release whose field names it has,
// and under "message" the payload. What was captured around the payload, the
// engine's identity and the type byte, is kept. Positional structs are objects:
// the array ends where the sender ended it, and elements that the release does
// not know follow as "extra". A struct that came as anything but an array is
// shown as what it is.
//
// What JSON lacks is an object whose first key says what it is:
//
//	{"bin": "00ff"}                  bytes, in hexadecimal
//	{"ext": 1, "hex": "80"}          an extension, such as a pickle
//	{"str": "ff"}                    a string that is no UTF-8, in hexadecimal
//	{"float": "nan"}                 also inf and -inf
//	{"map": [[1, 0.5]]}              a map with keys that are no strings, or that looks like one of these
//	{"dtype": "<f4", "shape": [2], "values": [1.0, 2.0]}   a tensor
//
// A number with a point or an exponent is a float, any other an integer of up to
// 64 bits. A tensor has "values" up to 64 elements and "base64" above; "frame"
// is the tensor frame it came in, and without it (or "inline": true) Frames puts
// data under 256 bytes into the payload and other data into a frame of its own,
// as vLLM does.
package wire
