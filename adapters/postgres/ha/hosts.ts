import { invalidOption } from '../../../src/errors.js'

/** One of the servers that a connection string names. */
export interface Host {
  /** For messages: without a password. */
  readonly name: string
  readonly connectionString: string
}

const URL_PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)([^?]*)(?:\?(.*))?$/s
/** A name or an address, and a port. An address of IPv6 has brackets. */
const HOST_AND_PORT = /^(\[[\da-f:.%]+\]|[^:@/?#[\]\s]+)(?::(\d*))?$/i
/** Parameters that `hostsOf` reads itself. */
const OWN_PARAMETER = /^(?:host|port|target_session_attrs)=/
const ATTRIBUTES: ReadonlySet<string> = new Set(['read-write', 'primary'])

function checkPort(host: string, port: string): void {
  if (port !== '' && !(Number(port) >= 1 && Number(port) <= 65_535))
    throw invalidOption(
      `the port of the host ${host} must be a number from 1 to 65535; it is ${port}`,
    )
}

/** Reads `host` or `host:port`; `place` counts from 1. */
function readHost(text: unknown, place: number): string {
  if (typeof text !== 'string')
    throw invalidOption(`host ${place} of the Postgres store must be a text`)
  if (text === '') throw invalidOption(`host ${place} of the Postgres store is empty`)
  const [, host, port = ''] = HOST_AND_PORT.exec(text) ?? []
  if (host === undefined)
    throw invalidOption(
      `host ${place} of the Postgres store must be a name or an address, with or without a port; it is ${text.replace(/^.*@/s, '…@')}`,
    )
  checkPort(host, port)
  return port === '' ? host : `${host}:${port}`
}

/** The hosts of the parameters `host` and `port`, as libpq pairs them. */
function hostsOfParameters(hosts: readonly string[], ports: readonly string[]): string[] {
  if (ports.length > 1 && ports.length !== hosts.length)
    throw invalidOption(`the connectionString has ${hosts.length} hosts, but ${ports.length} ports`)
  return hosts.map((host, i) => {
    const port = ports.length === 1 ? ports[0]! : (ports[i] ?? '')
    if (!/^\d*$/.test(port)) checkPort(host, port)
    const name = host.includes(':') ? `[${host}]` : host.replaceAll('/', '%2F')
    return port === '' ? name : `${name}:${port}`
  })
}

function checkAttributes(parameters: URLSearchParams): void {
  const wanted = parameters.get('target_session_attrs') ?? 'read-write'
  if (!ATTRIBUTES.has(wanted))
    throw invalidOption(
      `target_session_attrs must be read-write or primary with several hosts; it is ${wanted}`,
    )
}

/**
 * A connection string of pg for each host. Several hosts are separated as libpq does it:
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS. `given` hosts replace those of the
 * connection string. Throws `INVALID_OPTION`.
 */
export function hostsOf(
  connectionString: string,
  given: readonly string[] | undefined,
): readonly [Host, ...Host[]] {
  const parts = URL_PARTS.exec(connectionString)
  const parameters = new URLSearchParams(parts?.[5] ?? '')
  const listed = parameters.get('host')
  const named = listed ?? parts?.[3] ?? ''
  if (!given && !named.includes(',')) return [{ name: named, connectionString }]
  if (!parts) throw invalidOption('with hosts, the connectionString must begin with postgres://')
  if (given && !(Array.isArray(given) && given.length > 0))
    throw invalidOption('hosts must be an array of at least one host')
  checkAttributes(parameters)
  const ports = parameters.get('port')?.split(',') ?? []
  const hosts =
    given ?? (listed === null ? named.split(',') : hostsOfParameters(listed.split(','), ports))
  const [, scheme, user = '', , path = '', query = ''] = parts
  const others = query.split('&').filter((one) => one !== '' && !OWN_PARAMETER.test(one))
  const rest = path + (others.length > 0 ? `?${others.join('&')}` : '')
  const read = hosts.map((text, i) => {
    const name = readHost(text, i + 1)
    return { name, connectionString: `${scheme}${user}${name}${rest}` }
  })
  return read as [Host, ...Host[]]
}
