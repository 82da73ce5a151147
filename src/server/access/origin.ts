// Without authentication the only protection is that the store is reached from this machine. A web page in a browser on
// this machine is the way around that: by a form or a script (Origin, Sec-Fetch-Site), or by a name that it rebinds to
// 127.0.0.1 (Host).
import { isIP } from 'node:net'
import type { RequestHeaders } from '../http/request-head.js'

/** Hosts and origins seen and found good; bounded, because a client chooses the port in them. */
const REMEMBERED_MAX = 64
const SERVICE_NAME = /^(?!\d+$)[a-z\d](?:[\w-]{0,61}[a-z\d])?$/i
const IPV4_LOOPBACK = /^127(?:\.\d{1,3}){3}$/

/** Whether that host name or address, without a port, is this machine only. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase()
  return name === 'localhost' || name === '::1' || name === '[::1]' || IPV4_LOOPBACK.test(name)
}

/** What is admitted beside the names of loopback. */
export interface Admitted {
  /** Further host names under which clients reach this server, and pages of which may use it. */
  readonly hosts?: readonly string[] | undefined
  /** Whether any IP address will do as Host, on a server that listens on others than loopback: no web page can rebind one. */
  readonly addresses?: 'loopback' | 'any' | undefined
  /**
   * Names without a dot, such as those of the services of a compose network, will do as Host. As Origin they will not, so
   * that a page of a local network that rebinds such a name can post nothing: browsers send the Origin with every POST. Nor
   * will any request that a browser sends for a page (Sec-Fetch-Site). Browsers leave that header out over plain HTTP, so
   * such a page may still get the counters of /metrics, in which there is nothing of tables or items.
   */
  readonly serviceNames?: boolean | undefined
  /** Pages of exactly these origins may use it. */
  readonly origins?: readonly string[] | undefined
  /** This server has pages: those of an admitted address may use it under that address. */
  readonly ownPages?: boolean | undefined
}

/** As a browser writes it in the Origin header; undefined if it is none, such as `*`, `null` or a bare name. */
export function originIn(text: string): string | undefined {
  if (!/^https?:\/\/[^/?#@\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text).origin
}

/** Tells why a request may come from a web page of somewhere else; undefined if it may not. */
export class OriginCheck {
  readonly #hosts = new Set<string>()
  readonly #names: ReadonlySet<string>
  readonly #origins: ReadonlySet<string>
  readonly #admitsAddresses: boolean
  readonly #admitsServiceNames: boolean
  readonly #hasPages: boolean

  constructor(admitted: Admitted = {}) {
    const {
      hosts = [],
      addresses = 'loopback',
      serviceNames = false,
      origins = [],
      ownPages = false,
    } = admitted
    this.#names = new Set(hosts.map((name) => name.toLowerCase()))
    this.#origins = new Set(origins.map(checkedOrigin))
    this.#admitsAddresses = addresses === 'any'
    this.#admitsServiceNames = serviceNames
    this.#hasPages = ownPages
  }

  /**
   * A `fixed file` is the same for everyone and has nothing of the store in it: a link of another site may lead to it, but not
   * under a name that is not ours.
   */
  refusal(headers: RequestHeaders, asksFor: 'store' | 'fixed file' = 'store'): string | undefined {
    const { host } = headers
    if (typeof host !== 'string' || (!this.#hosts.has(host) && !this.#accept(host))) {
      return `the Host header ${quoted(host)} is not a name of this machine's loopback (localhost, 127.0.0.1, [::1]); without --auth only those are answered, and names given by --allow-host, so that no web page reaches the store through a name of its own`
    }
    if (asksFor === 'fixed file') return undefined
    const { origin } = headers
    if (
      origin !== undefined &&
      (typeof origin !== 'string' || !(this.allowsOrigin(origin) || this.#isOwnAddress(origin, host)))
    ) {
      return `the Origin ${quoted(origin)} is not on this machine's loopback; without --auth no other web page may use the store but those of origins given by --allow-origin`
    }
    const site = headers['sec-fetch-site']
    if (site !== undefined && this.#isForeign(site, host) && !(origin !== undefined && this.lists(origin))) {
      return 'the browser says that the request comes from another site (Sec-Fetch-Site); without --auth no other web page may use the store but those of origins given by --allow-origin'
    }
    return undefined
  }

  allowsOrigin(origin: string): boolean {
    if (this.#origins.has(origin)) return true
    const [, authority] = /^https?:\/\/([^/]*)$/i.exec(origin) ?? []
    return authority !== undefined && this.#isOurs(authority)
  }

  /** Whether it was named itself. */
  lists(origin: string): boolean {
    return this.#origins.has(origin)
  }

  /** The page of an address is of the machine with that address: no name was looked up that could be rebound. */
  #isOwnAddress(origin: string, host: string): boolean {
    const name = nameIn(host)
    return (
      this.#hasPages &&
      this.#admitsAddresses &&
      name !== undefined &&
      isAddress(name) &&
      (origin === `http://${host}` || origin === `https://${host}`)
    )
  }

  /** Where a name can be rebound, a page of the same origin may be another's: our own are not used under such names. */
  #isForeign(site: string | string[], host: string): boolean {
    return site === 'cross-site' || (site !== 'none' && this.#admitsServiceNames && this.#isServiceName(host))
  }

  #isServiceName(host: string): boolean {
    const name = nameIn(host)
    return name !== undefined && SERVICE_NAME.test(name) && !this.#isOurs(host)
  }

  #accept(host: string): boolean {
    if (!this.#isOurs(host) && !this.#isAdmittedHost(nameIn(host))) return false
    if (this.#hosts.size >= REMEMBERED_MAX) this.#hosts.clear()
    this.#hosts.add(host)
    return true
  }

  #isAdmittedHost(name: string | undefined): boolean {
    if (name === undefined) return false
    return (this.#admitsAddresses && isAddress(name)) || (this.#admitsServiceNames && SERVICE_NAME.test(name))
  }

  #isOurs(authority: string): boolean {
    const name = nameIn(authority)
    return name !== undefined && (isLoopbackHost(name) || this.#names.has(name.toLowerCase()))
  }
}

function checkedOrigin(text: string): string {
  const origin = originIn(text)
  if (origin === undefined) throw new Error(`an origin is such as http://localhost:3000, not ${quoted(text)}`)
  return origin
}

/** A host name or address without the port; undefined if it is neither. */
const nameIn = (authority: string): string | undefined =>
  /^(\[[0-9a-f:.]*\]|[^:[\]]*)(?::\d{1,5})?$/i.exec(authority)?.[1]

const isAddress = (name: string): boolean => isIP(name.replace(/^\[|\]$/g, '')) !== 0

const QUOTED_MAX = 100
function quoted(value: string | string[] | undefined): string {
  return value === undefined ? '(absent)' : JSON.stringify(String(value).slice(0, QUOTED_MAX))
}
