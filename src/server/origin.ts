// Without authentication the only protection is that the store is reached from this machine. A web page in a browser on
// this machine is the way around that: by a form or a script (Origin, Sec-Fetch-Site), or by a name that it rebinds to
// 127.0.0.1 (Host).
import { isIP } from 'node:net'
import type { RequestHeaders } from './request-head.js'

/** Hosts and origins seen and found good; bounded, because a client chooses the port in them. */
const REMEMBERED_MAX = 64
const IPV4_LOOPBACK = /^127(?:\.\d{1,3}){3}$/

/** Whether that host name or address, without a port, is this machine only. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase()
  return name === 'localhost' || name === '::1' || name === '[::1]' || IPV4_LOOPBACK.test(name)
}

/** Tells why a request may come from a web page of somewhere else; undefined if it may not. */
export class OriginCheck {
  readonly #hosts = new Set<string>()
  readonly #names: ReadonlySet<string>

  readonly #admitsAddresses: boolean

  /**
   * @param names further host names under which clients reach this server, and pages of which may use it.
   * @param addresses whether any IP address will do as Host, on a server that listens on others than loopback: no web page
   *   can rebind one.
   */
  constructor(names: readonly string[], addresses: 'loopback' | 'any' = 'loopback') {
    this.#names = new Set(names.map((name) => name.toLowerCase()))
    this.#admitsAddresses = addresses === 'any'
  }

  refusal(headers: RequestHeaders): string | undefined {
    const { host } = headers
    if (typeof host !== 'string' || (!this.#hosts.has(host) && !this.#accept(host))) {
      return `the Host header ${quoted(host)} is not a name of this machine's loopback (localhost, 127.0.0.1, [::1]); without --auth only those are answered, and names given by --allow-host, so that no web page reaches the store through a name of its own`
    }
    const { origin } = headers
    if (origin !== undefined && (typeof origin !== 'string' || !this.allowsOrigin(origin))) {
      return `the Origin ${quoted(origin)} is not on this machine's loopback; without --auth no other web page may use the store`
    }
    if (headers['sec-fetch-site'] === 'cross-site') {
      return 'the browser says that the request comes from another site (Sec-Fetch-Site); without --auth no other web page may use the store'
    }
    return undefined
  }

  allowsOrigin(origin: string): boolean {
    const [, authority] = /^https?:\/\/([^/]*)$/i.exec(origin) ?? []
    return authority !== undefined && this.#isOurs(authority)
  }

  #accept(host: string): boolean {
    const name = nameIn(host)
    if (!this.#isOurs(host) && !(this.#admitsAddresses && name !== undefined && isAddress(name))) return false
    if (this.#hosts.size >= REMEMBERED_MAX) this.#hosts.clear()
    this.#hosts.add(host)
    return true
  }

  #isOurs(authority: string): boolean {
    const name = nameIn(authority)
    return name !== undefined && (isLoopbackHost(name) || this.#names.has(name.toLowerCase()))
  }
}

/** A host name or address without the port; undefined if it is neither. */
const nameIn = (authority: string): string | undefined =>
  /^(\[[0-9a-f:.]*\]|[^:[\]]*)(?::\d{1,5})?$/i.exec(authority)?.[1]

const isAddress = (name: string): boolean => isIP(name.replace(/^\[|\]$/g, '')) !== 0

const QUOTED_MAX = 100
function quoted(value: string | string[] | undefined): string {
  return value === undefined ? '(absent)' : JSON.stringify(String(value).slice(0, QUOTED_MAX))
}
