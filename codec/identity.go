// SPDX-License-Identifier: Apache-2.0

package codec

import "encoding/binary"

// MaxRank is the largest data-parallel rank: an identity has two bytes.
const MaxRank = 1<<16 - 1

// Identity is an engine's name on all its sockets: its rank, two bytes
// little-endian. The rank is 0 to MaxRank. vLLM: EngineIdentity.
func Identity(rank int) string {
	return string(binary.LittleEndian.AppendUint16(nil, uint16(rank)))
}

// RankOf reads an engine's identity; false when it is none.
func RankOf(identity string) (rank int, ok bool) {
	if len(identity) != 2 {
		return 0, false
	}
	return int(identity[0]) | int(identity[1])<<8, true
}
