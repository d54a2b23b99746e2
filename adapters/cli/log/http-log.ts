import { describeEvent } from 'daybook'
import type { CustomTypes } from '../../../src/event/custom-types.js'
import { readAddress } from '../feed/address.js'
import { openFeed } from '../feed/open-feed.js'
import { usageError } from '../terminal/exit-codes.js'
import type { Terminal } from '../terminal/terminal.js'
import { askCredentials } from './ask-credentials.js'
import type { OpenLog, OpenOptions } from './log.js'
import type { Target } from './target.js'

/** A log behind an HTTP feed. */
export async function openHttpLog(
  { url }: Extract<Target, { readonly kind: 'http' }>,
  { config, ledgerKey }: OpenOptions,
  terminal: Terminal,
): Promise<OpenLog> {
  if (ledgerKey !== undefined) throw usageError('--key: the service of a feed has its own key')
  const { signal, env } = terminal
  const address = readAddress(url.href, env)
  const feed = await openFeed(address, askCredentials(address.url, terminal), { signal })
  const { presets } = await import('daybook/presets')
  const known = presets.flatMap((preset) => Object.entries(preset.customTypes))
  // Definitions of the user take precedence over the definitions of the service.
  const types = { ...feed.described.types, ...config?.types }
  const customTypes: CustomTypes = {
    ...Object.fromEntries(known),
    ...feed.described.customTypes,
    ...config?.customTypes,
  }
  return {
    kind: 'http',
    list: (query, options) => feed.list(query, options),
    get: (id, options) => feed.get(id, options),
    count: (query, options) => feed.count(query, options),
    tail: (query, options) => feed.tail(query, options),
    export(query, { service, ...options }) {
      if (service !== undefined)
        throw usageError('--service: the service of a feed gives its own name')
      return feed.export(query, options)
    },
    prove: (id, options) => feed.prove(id, options),
    checkpoint: (options) => feed.checkpoint(options),
    describe: (event) => describeEvent(event, { types, customTypes }),
    audit: undefined,
    feed,
    close: () => Promise.resolve(),
  }
}
