// Checks a ledger with the libraries of Go's checksum database and of transparency.dev: checkpoint, tiles, headers, proofs.
package main

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	f_log "github.com/transparency-dev/formats/log"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// C2SP has no height in the path of a tile.
type folder struct{ path string }

func (f folder) Height() int                        { return 8 }
func (f folder) SaveTiles([]tlog.Tile, [][]byte)     {}
func (f folder) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var data [][]byte
	for _, tile := range tiles {
		bytes, err := os.ReadFile(filepath.Join(f.path, strings.Replace(tile.Path(), "tile/8/", "tile/", 1)))
		if err != nil {
			return nil, err
		}
		data = append(data, bytes)
	}
	return data, nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	path, key := os.Args[1], os.Args[2]
	verifier, err := note.NewVerifier(key)
	check(err)
	text, err := os.ReadFile(filepath.Join(path, "checkpoint"))
	check(err)
	checkpoint, _, _, err := f_log.ParseCheckpoint(text, verifier.Name(), verifier)
	check(err)
	tree := tlog.Tree{N: int64(checkpoint.Size), Hash: tlog.Hash(checkpoint.Hash)}
	reader := tlog.TileHashReader(tree, folder{path})

	headers := int64(0)
	for bundle := int64(0); headers < tree.N; bundle++ {
		tile := tlog.Tile{H: 8, L: -1, N: bundle, W: int(min(256, tree.N-headers))}
		data, err := os.ReadFile(filepath.Join(path, strings.Replace(tile.Path(), "tile/8/data/", "tile/entries/", 1)))
		check(err)
		for len(data) > 0 {
			length := int(binary.BigEndian.Uint16(data))
			hash := tlog.RecordHash(data[2 : 2+length])
			hashes, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, headers)})
			check(err)
			if hashes[0] != hash {
				check(fmt.Errorf("header %d is not in the tree", headers))
			}
			data = data[2+length:]
			headers++
		}
	}
	if headers != tree.N {
		check(fmt.Errorf("%d headers, not %d", headers, tree.N))
	}

	lines, err := os.ReadFile(filepath.Join(path, "proofs.txt"))
	check(err)
	proofs := 0
	for _, line := range strings.Split(strings.TrimSpace(string(lines)), "\n") {
		field := strings.Split(line, " ")
		first, _ := strconv.ParseUint(field[1], 10, 64)
		size, _ := strconv.ParseUint(field[2], 10, 64)
		one, root := decode(field[3]), decode(field[4])
		var hashes [][]byte
		var tlogProof []tlog.Hash
		if field[5] != "-" {
			for _, hash := range strings.Split(field[5], ",") {
				hashes = append(hashes, decode(hash))
				tlogProof = append(tlogProof, tlog.Hash(decode(hash)))
			}
		}
		if field[0] == "inclusion" {
			check(proof.VerifyInclusion(rfc6962.DefaultHasher, first, size, one, hashes, root))
			check(tlog.CheckRecord(tlogProof, int64(size), tlog.Hash(root), int64(first), tlog.Hash(one)))
		} else {
			check(proof.VerifyConsistency(rfc6962.DefaultHasher, first, size, hashes, one, root))
			check(tlog.CheckTree(tlogProof, int64(size), tlog.Hash(root), int64(first), tlog.Hash(one)))
		}
		proofs++
	}
	fmt.Printf("checkpoint of %d blocks accepted, all headers by its tiles, %d proofs by two libraries\n", headers, proofs)
}

func decode(text string) []byte {
	bytes, err := base64.StdEncoding.DecodeString(text)
	check(err)
	return bytes
}
