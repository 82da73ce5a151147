// TCP proxies in front of the nodes of a ring, which tell clients these addresses instead of their own. A cut holds what is on its way,
// as a network does that loses packets: at its end all of it arrives, late.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, createServer } from 'node:net'

const PORT = 9042

/** In front of 127.0.0.N stands 127.0.1.N. */
export const proxied = (number) => `127.0.1.${number}`

export async function openProxies(numbers) {
  const links = new Set()
  const cuts = new Map()
  const isCut = ({ number, pid }) =>
    [...cuts.values()].some((cut) => (cut.number ?? number) === number && (cut.pid ?? pid) === pid)
  const look = () => {
    for (const link of links) link.hold(isCut(link))
  }
  const servers = await Promise.all(
    numbers.map(
      (number) =>
        new Promise((resolve) => {
          const server = createServer((client) => {
            const node = connect({ host: `127.0.0.${number}`, port: PORT })
            const link = {
              number,
              pid: pidOf(client.remotePort, client.remoteAddress),
              hold(isHeld) {
                for (const socket of [client, node])
                  if (isHeld) socket.pause()
                  else socket.resume()
              },
            }
            links.add(link)
            const end = () => {
              links.delete(link)
              client.destroy()
              node.destroy()
            }
            for (const [from, to] of [
              [client, node],
              [node, client],
            ]) {
              from.on('data', (bytes) => to.write(bytes))
              from.on('error', end)
              from.on('close', end)
            }
            link.hold(isCut(link))
          })
          server.listen(PORT, proxied(number), () => resolve(server))
        }),
    ),
  )
  return {
    /** Of that node, of that process, or of both; ends the cut when it is called. */
    cut(what) {
      const id = Symbol('cut')
      cuts.set(id, what)
      look()
      return () => {
        cuts.delete(id)
        look()
      }
    },
    close() {
      for (const server of servers) server.close()
    },
  }
}

/** Whose connection it is: the socket with that port on this machine. */
function pidOf(port, address) {
  const [hex, host] = [port.toString(16).toUpperCase().padStart(4, '0'), ipHex(address)]
  const line = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .find((each) => each.includes(` ${host}:${hex} `) && each.trim().split(/\s+/)[1] === `${host}:${hex}`)
  const inode = line?.trim().split(/\s+/)[9]
  if (inode === undefined) return undefined
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      for (const file of readdirSync(`/proc/${pid}/fd`))
        if (readlinkSync(`/proc/${pid}/fd/${file}`) === `socket:[${inode}]`) return Number(pid)
    } catch {
      // It has ended, or is not ours to look at.
    }
  }
  return undefined
}

const ipHex = (address) =>
  address
    .split('.')
    .toReversed()
    .map((part) => Number(part).toString(16).toUpperCase().padStart(2, '0'))
    .join('')
