import { setTimeout as delay } from 'node:timers/promises'
import { throwIfAborted } from '../../../src/errors.js'
import { bothOf, type EventQuery, oneCondition } from '../../../src/filter/ast.js'
import type { FeedClient } from './client.js'
import { OutageError, unreachable } from './failures.js'
import { filterParameters, joined, parameter } from './parameters.js'

/* Exports of a feed. */

export interface FeedExport {
  readonly format: string
  readonly columns?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
}

/** Maximum number of attempts to continue without a further event: about 30 seconds. */
const MAX_TRIES = 8
const PAUSE_MS = 250
const NEW_LINE = 0x0a

async function* bodyOf(
  client: FeedClient,
  url: string,
  signal: AbortSignal | undefined,
  onResponse: (response: Response) => void = () => {},
): AsyncGenerator<Uint8Array, void, void> {
  const response = await client.request(url, { headers: { accept: '*/*' }, signal })
  onResponse(response)
  try {
    for await (const chunk of response.body!) yield chunk as Uint8Array
  } catch (error) {
    throwIfAborted(signal)
    throw unreachable(url, error)
  }
}

/** The chunks up to the last line break. If the body breaks off, the rest of the last chunk is dropped. */
async function* wholeLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  let rest: Uint8Array[] = []
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEW_LINE) + 1
    if (end === 0) {
      rest.push(chunk)
      continue
    }
    yield Buffer.concat([...rest, chunk.subarray(0, end)])
    rest = [chunk.subarray(end)]
  }
}

/** `created_at` of the last event in some whole lines of JSON. */
function lastTime(lines: Uint8Array): string {
  const start = lines.lastIndexOf(NEW_LINE, lines.length - 2) + 1
  const text = Buffer.from(lines.subarray(start)).toString()
  return (JSON.parse(text) as { readonly created_at: string }).created_at
}

/** The export as JSON lines. Continues after the last whole line when the connection breaks. */
async function* resumedLines(
  client: FeedClient,
  urlOf: (where: EventQuery['where']) => string,
  where: EventQuery['where'],
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  let last: string | undefined
  let until: string | undefined
  const keepEnd = ({ headers }: Response): void => {
    until ??= headers.get('x-export-until') ?? undefined
  }
  for (let tries = 1; ; tries++) {
    const start = last === undefined ? undefined : oneCondition('created_at', 'gt', [last])
    const end = until === undefined ? undefined : oneCondition('created_at', 'lteq', [until])
    const url = urlOf(bothOf(where, bothOf(start, end)))
    try {
      for await (const lines of wholeLines(bodyOf(client, url, signal, keepEnd))) {
        tries = 1
        last = lastTime(lines)
        yield lines
      }
      return
    } catch (error) {
      // A failure before the first event may come from a wrong address.
      if (!(error instanceof OutageError) || last === undefined || tries === MAX_TRIES) throw error
    }
    await delay(PAUSE_MS * 2 ** (tries - 1), undefined, { signal }).catch(() =>
      throwIfAborted(signal),
    )
  }
}

/**
 * The bytes of the export of all matching events that exist now, oldest first, as the server writes them. An export
 * as JSON lines continues after a broken connection. In other formats, it rejects with `OutageError`.
 */
export function exportOf(
  client: FeedClient,
  events: string,
  { where }: EventQuery,
  { format, columns, signal }: FeedExport,
): AsyncGenerator<Uint8Array, void, void> {
  const urlOf = (wanted: EventQuery['where']): string => {
    const fields = columns?.map((name) => parameter('fields[event][]', name)) ?? []
    const query = joined(
      filterParameters(wanted),
      parameter('format', format),
      // The file can be imported and proved, as that of a stored log.
      parameter('personal', 'stored'),
      ...fields,
    )
    return `${events}/export?${query}`
  }
  return format === 'ndjson'
    ? resumedLines(client, urlOf, where, signal)
    : bodyOf(client, urlOf(where), signal)
}
