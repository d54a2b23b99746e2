import http from 'node:http'
import https from 'node:https'
import type { OptionNames } from '../../src/options.js'
import type { Fail } from './read-options.js'

/** The part of a dispatcher of undici, of any version, that sends a request. */
export interface Dispatcher {
  request(options: {
    readonly origin: string
    readonly path: string
    readonly method: 'POST'
    readonly headers: Readonly<Record<string, string>>
    readonly body: Buffer
    readonly signal: AbortSignal
  }): Promise<{
    readonly statusCode: number
    readonly headers: Readonly<Record<string, string | string[] | undefined>>
    readonly body: AsyncIterable<unknown>
  }>
}

/** Options that open the connections of a channel. At most one of them is set. */
export interface ConnectionOptions {
  /**
   * An agent of `node:http` or `node:https`, by the protocol of the URL, for a proxy, an authority or a certificate.
   * @default the global agent of Node, which uses the proxy of the environment if Node supports this
   */
  readonly agent?: http.Agent | undefined
  /** A dispatcher of undici, such as its `ProxyAgent`, which sends the requests. @default none */
  readonly dispatcher?: Dispatcher | undefined
}

export const CONNECTION_OPTIONS: OptionNames<ConnectionOptions> = { agent: true, dispatcher: true }

const hasMethod = (value: unknown, name: string): boolean =>
  typeof (value as Readonly<Record<string, unknown>> | null)?.[name] === 'function'

/** Agents of other classes may take URLs of both protocols. */
const OWN_AGENTS: ReadonlySet<unknown> = new Set([http.Agent, https.Agent])

/**
 * Throws the error of `fail` for a value that is neither an agent nor a dispatcher, and for an agent of another
 * protocol.
 */
export function readConnections(
  { agent, dispatcher }: ConnectionOptions,
  fail: Fail,
  url?: URL,
): ConnectionOptions {
  if (agent !== undefined && dispatcher !== undefined)
    throw fail('agent', 'and dispatcher cannot be used together')
  if (dispatcher !== undefined && !hasMethod(dispatcher, 'request'))
    throw fail('dispatcher', 'must be a dispatcher of undici')
  if (agent === undefined) return { dispatcher }
  if (!hasMethod(agent, 'addRequest'))
    throw fail(
      'agent',
      'must be an agent of node:http or node:https; one of undici is a dispatcher',
    )
  const { constructor, protocol } = agent as http.Agent & { readonly protocol?: string }
  if (url && OWN_AGENTS.has(constructor) && protocol !== url.protocol)
    throw fail(
      'agent',
      `is one for ${String(protocol)} URLs; the URL of the channel is of ${url.protocol}`,
    )
  return { agent }
}
