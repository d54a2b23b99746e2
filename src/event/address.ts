/*
 * Addresses of clients. Servers, proxies and clients write the same address in many ways, so everything that records,
 * compares or limits by an address uses the normal form. Also runs in browsers.
 */

/** Longer than any address with zone, port, brackets and quotes. */
const MAX_LENGTH = 128

const OCTET = /^(?:0|[1-9]\d{0,2})$/
const GROUP = /^[0-9a-f]{1,4}$/i
/** RFC 7239, section 6: a port may be a name. */
const PORT = String.raw`(?::(?:\d+|_[\w.-]+))?`
const IN_BRACKETS = new RegExp(String.raw`^\[([^\]]*)\]${PORT}$`)
const IPV4_WITH_PORT = new RegExp(String.raw`^([\d.]+)${PORT}$`)
const WITH_ZONE = /^([^%]*)%[^%\s]+$/

/** The four octets; `undefined` for anything else, also for octets that may be octal. */
function ipv4Octets(text: string): readonly number[] | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => OCTET.test(part))) return undefined
  const octets = parts.map(Number)
  return octets.every((octet) => octet < 256) ? octets : undefined
}

const groupsIn = (text: string): string[] => (text === '' ? [] : text.split(':'))

/** The text with an IPv4 address at its end as two groups. */
function withoutDots(text: string): string | undefined {
  if (!text.includes('.')) return text
  const at = text.lastIndexOf(':') + 1
  const octets = ipv4Octets(text.slice(at))
  if (!octets) return undefined
  const [a, b, c, d] = octets as [number, number, number, number]
  return `${text.slice(0, at)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}

/** The eight groups of an IPv6 address without a zone; `undefined` for anything else. */
function ipv6Groups(text: string): readonly number[] | undefined {
  const halves = withoutDots(text)?.split('::') ?? []
  if (halves.length < 1 || halves.length > 2) return undefined
  const [front = [], back = []] = halves.map(groupsIn)
  const missing = 8 - front.length - back.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  const groups = [...front, ...Array.from({ length: missing }, () => '0'), ...back]
  return groups.every((group) => GROUP.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : undefined
}

/** The octets of an IPv4 address that is written as an IPv6 address (RFC 4291, section 2.5.5.2). */
function mappedOctets(groups: readonly number[]): readonly number[] | undefined {
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  return isMapped ? [high >> 8, high & 0xff, low >> 8, low & 0xff] : undefined
}

/** RFC 5952, section 4: lower case, no leading zeros, the first longest run of at least two zero groups as `::`. */
function ipv6Text(groups: readonly number[]): string {
  let start = 0
  let length = 1
  for (let from = 0; from < 8; from++) {
    let to = from
    while (groups[to] === 0) to++
    if (to - from > length) [start, length] = [from, to - from]
  }
  const texts = groups.map((group) => group.toString(16))
  if (length < 2) return texts.join(':')
  return `${texts.slice(0, start).join(':')}::${texts.slice(start + length).join(':')}`
}

/** The octets of an IPv4 address, or the groups of an IPv6 address. */
type Parts = { readonly ipv4: readonly number[] } | { readonly ipv6: readonly number[] }

function parse(given: unknown): Parts | undefined {
  if (typeof given !== 'string' || given.length > MAX_LENGTH) return undefined
  const text = given.trim().replace(/^"(.*)"$/, '$1')
  const ipv4 = ipv4Octets(IPV4_WITH_PORT.exec(text)?.[1] ?? '')
  if (ipv4) return { ipv4 }
  const inner = IN_BRACKETS.exec(text)?.[1] ?? text
  const ipv6 = ipv6Groups(WITH_ZONE.exec(inner)?.[1] ?? inner)
  if (!ipv6) return undefined
  const mapped = mappedOctets(ipv6)
  return mapped ? { ipv4: mapped } : { ipv6 }
}

/**
 * The normal form of an address: IPv4 with four decimal numbers, also if it is mapped into IPv6, or IPv6 by RFC 5952. A port, a
 * zone, brackets, quotes and white space around it are left out. An empty string for anything that is not one address.
 */
export function normalAddress(given: unknown): string {
  const parts = parse(given)
  if (!parts) return ''
  return 'ipv4' in parts ? parts.ipv4.join('.') : ipv6Text(parts.ipv6)
}

/**
 * The network by which a client is limited: its IPv4 address, or the first 64 bits of its IPv6 address, because a client usually
 * controls all addresses below them. An empty string for anything that is not one address.
 */
export function networkOf(given: unknown): string {
  const parts = parse(given)
  if (!parts) return ''
  if ('ipv4' in parts) return parts.ipv4.join('.')
  return `${ipv6Text([...parts.ipv6.slice(0, 4), 0, 0, 0, 0])}/64`
}
