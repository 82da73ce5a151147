// Without authentication the only protection is that the store is reached from this machine. A web page in a browser on
// this machine is the way around that: by a form or a script (Origin, Sec-Fetch-Site), or by a name that it rebinds to
// 127.0.0.1 (Host).
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

  /** @param names further host names under which clients reach this server. */
  constructor(names: readonly string[]) {
    this.#names = new Set(names.map((name) => name.toLowerCase()))
  }

  refusal(headers: RequestHeaders): string | undefined {
    const { host } = headers
    if (typeof host !== 'string' || (!this.#hosts.has(host) && !this.#accept(host))) {
      return `the Host header ${quoted(host)} is not a name of this machine's loopback (localhost, 127.0.0.1, [::1]); without --auth only those are answered, so that no web page reaches the store through a name of its own`
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
    if (!this.#isOurs(host)) return false
    if (this.#hosts.size >= REMEMBERED_MAX) this.#hosts.clear()
    this.#hosts.add(host)
    return true
  }

  #isOurs(authority: string): boolean {
    const [, name] = /^(\[[0-9a-f:.]*\]|[^:[\]]*)(?::\d{1,5})?$/i.exec(authority) ?? []
    return name !== undefined && (isLoopbackHost(name) || this.#names.has(name.toLowerCase()))
  }
}

const QUOTED_MAX = 100
function quoted(value: string | string[] | undefined): string {
  return value === undefined ? '(absent)' : JSON.stringify(String(value).slice(0, QUOTED_MAX))
}
