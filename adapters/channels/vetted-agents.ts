import dns from 'node:dns'
import type http from 'node:http'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { AuditLogError } from '../../src/errors.js'
import { loadPackage } from '../../src/store/packages.js'
import { AGENT_OPTIONS, type Agents } from './post.js'

/*
 * Connections to URLs that users gave. request-filtering-agent looks up the name, refuses addresses that are not public, and connects to
 * the addresses that it has checked. So a name cannot lead elsewhere between the check and the connection.
 */

interface FilteringOptions extends http.AgentOptions {
  readonly allowIPAddressList: string[]
  readonly denyIPAddressList: string[]
  readonly lookup: LookupFunction
}

type FilteringAgent = new (options: FilteringOptions) => http.Agent

interface FilteringPackage {
  readonly RequestFilteringHttpAgent: FilteringAgent
  readonly RequestFilteringHttpsAgent: FilteringAgent
}

/** The agents of one channel. */
export interface VettedAgents {
  readonly agents: Agents
  /** True if the URL leads to an address that the agents refuse. False if its name cannot be looked up. */
  refuse(): Promise<boolean>
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/**
 * IPv4-compatible addresses, such as `::127.0.0.1` (RFC 4291, section 2.5.5.1), which request-filtering-agent
 * considers public.
 */
const REFUSED = readRanges(['::/96'])

/** Addresses and ranges in CIDR notation. Throws `INVALID_OPTION`. */
export function readRanges(given: readonly string[]): BlockList {
  const ranges = new BlockList()
  for (const range of given) {
    const [address = '', bits] = range.split('/')
    try {
      const family = familyOf(address)
      const prefix = bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits || NaN)
      ranges.addSubnet(address, prefix, family)
    } catch {
      const wrong = JSON.stringify(range)
      throw new AuditLogError('INVALID_OPTION', `allow: ${wrong} is not an address or a CIDR range`)
    }
  }
  return ranges
}

const isIn = (ranges: BlockList, address: string): boolean =>
  // The zone of a link-local address is removed first.
  ranges.check(address.replace(/%.*$/, ''), familyOf(address))

/** Throws `MISSING_DEPENDENCY` if request-filtering-agent is not installed. */
export const loadFilteringAgents = (): FilteringPackage =>
  loadPackage({
    name: 'request-filtering-agent',
    neededBy: 'a kind of channels whose URLs users give',
  }) as FilteringPackage

/** Creates agents for one URL. They connect to public addresses and to addresses in `allow`. */
export function createVettedAgents({ hostname }: URL, allow: BlockList): VettedAgents {
  const { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } = loadFilteringAgents()
  // If request-filtering-agent 3 is given ranges, it warns on the console about each address of the other family. So
  // its lists contain single addresses that the host name has resolved to.
  const lists = { allowIPAddressList: [] as string[], denyIPAddressList: [] as string[] }
  const note = (address: string): void => {
    const isAllowed = isIn(allow, address)
    if (!isAllowed && !isIn(REFUSED, address)) return
    const list = isAllowed ? lists.allowIPAddressList : lists.denyIPAddressList
    if (!list.includes(address)) list.push(address)
  }
  const lookup: LookupFunction = (hostname, options, callback) =>
    dns.lookup(hostname, options, (error, found, family) => {
      // Runs before request-filtering-agent checks the addresses.
      if (!error) for (const address of addressesIn(found)) note(address)
      callback(error, found, family)
    })
  const host = hostname.replace(/^\[|\]$/g, '')
  // An address in the URL is not looked up.
  if (isIP(host)) note(host)
  const options = { ...AGENT_OPTIONS, ...lists, lookup }
  const agents: Agents = {
    'http:': new RequestFilteringHttpAgent(options),
    'https:': new RequestFilteringHttpsAgent(options),
  }
  return {
    agents,
    async refuse() {
      const addresses = isIP(host) ? [host] : await lookUp(host)
      addresses.forEach(note)
      return addresses.some((address) => isRefused(agents['http:'], address))
    },
  }
}

const addressesIn = (found: string | readonly dns.LookupAddress[]): readonly string[] =>
  typeof found === 'string' ? [found] : found.map(({ address }) => address)

const lookUp = (host: string): Promise<readonly string[]> =>
  new Promise((resolve) => {
    dns.lookup(host, { all: true }, (error, found) => resolve(error ? [] : addressesIn(found)))
  })

/**
 * Asks the agent without connecting. The port does not exist, so the call throws for an address that the agent does
 * not refuse.
 */
function isRefused(agent: http.Agent, host: string): boolean {
  let refusal: Error | null | undefined
  try {
    agent.createConnection({ host, port: -1 }, (error) => (refusal = error))
  } catch {}
  return refusal instanceof Error
}
