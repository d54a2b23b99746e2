/** A message of a stream of server-sent events. */
export interface ServerSentMessage {
  /** Empty without one. */
  readonly id: string
  /** Empty for the default. */
  readonly event: string
  readonly data: string
}

/** The lines of a body; those that end with the last chunk but not with a line break are left out. */
async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    onBytes()
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
  }
}

/**
 * The whole messages of a stream. A message is whole at its blank line; one that the end of the stream cuts off is left out.
 * `onBytes` is called for all that arrives, comments included.
 */
export async function* messagesOf(
  chunks: AsyncIterable<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<ServerSentMessage, void, void> {
  let fields: Record<string, string> = {}
  for await (const line of linesOf(chunks, onBytes)) {
    if (line === '') {
      const { data, id = '', event = '' } = fields
      if (data !== undefined) yield { id, event, data }
      fields = {}
      continue
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!
    fields[name] =
      name === 'data' && fields['data'] !== undefined ? `${fields['data']}\n${value}` : value
  }
}
