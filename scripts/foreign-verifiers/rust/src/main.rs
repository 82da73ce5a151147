// Checks a ledger with the crates of Cloudflare's logs: checkpoint, tiles, headers, proofs.
use base64::prelude::{Engine, BASE64_STANDARD};
use signed_note::{Note, StandardVerifier, VerifierList};
use std::{env, error::Error, fs, path::PathBuf};
use tlog_tiles::{
    check_record, check_tree, record_hash, stored_hash_index, Checkpoint, Error as TlogError, Hash, HashReader, Tile,
    TileHashReader, TileReader,
};

struct Folder(PathBuf);

impl TileReader for Folder {
    fn height(&self) -> u8 {
        8
    }
    // C2SP has no height in the path of a tile.
    fn read_tiles(&self, tiles: &[Tile]) -> Result<Vec<Vec<u8>>, TlogError> {
        tiles
            .iter()
            .map(|tile| {
                let path = self.0.join(tile.path().replacen("tile/8/", "tile/", 1));
                fs::read(path).map_err(|error| TlogError::InvalidInput(error.to_string()))
            })
            .collect()
    }
    fn save_tiles(&self, _: &[Tile], _: &[Vec<u8>]) {}
}

fn hash(text: &str) -> Result<Hash, Box<dyn Error>> {
    Ok(Hash(BASE64_STANDARD.decode(text)?.try_into().map_err(|_| "not a hash")?))
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().collect();
    let folder = Folder(PathBuf::from(&args[1]));
    let verifiers = VerifierList::new(vec![Box::new(StandardVerifier::new(&args[2])?)]);
    let note = Note::from_bytes(&fs::read(folder.0.join("checkpoint"))?)?;
    note.verify(&verifiers)?;
    let checkpoint = Checkpoint::from_bytes(note.text()).map_err(|_| "not a checkpoint")?;
    let size = checkpoint.size();
    let reader = TileHashReader::new(size, *checkpoint.hash(), &folder);

    let mut headers = 0;
    for bundle in 0.. {
        if headers >= size {
            break;
        }
        let width = std::cmp::min(256, size - headers);
        let suffix = if width < 256 { format!(".p/{width}") } else { String::new() };
        let data = fs::read(folder.0.join(format!("tile/entries/{bundle:03}{suffix}")))?;
        let mut at = 0;
        while at < data.len() {
            let length = usize::from(u16::from_be_bytes([data[at], data[at + 1]]));
            let found = reader.read_hashes(&[stored_hash_index(0, headers)])?;
            if found[0] != record_hash(&data[at + 2..at + 2 + length]) {
                return Err(format!("header {headers} is not in the tree").into());
            }
            at += 2 + length;
            headers += 1;
        }
    }

    let mut proofs = 0;
    for line in fs::read_to_string(folder.0.join("proofs.txt"))?.lines() {
        let field: Vec<&str> = line.split(' ').collect();
        let (first, size) = (field[1].parse()?, field[2].parse()?);
        let (one, root) = (hash(field[3])?, hash(field[4])?);
        let path = match field[5] {
            "-" => vec![],
            hashes => hashes.split(',').map(hash).collect::<Result<Vec<_>, _>>()?,
        };
        match field[0] {
            "inclusion" => check_record(&path, size, root, first, one)?,
            _ => check_tree(&path, size, root, first, one)?,
        }
        proofs += 1;
    }
    println!("checkpoint of {headers} blocks accepted, all headers by its tiles, {proofs} proofs");
    Ok(())
}
