import http from 'node:http'

/** An event as an EventSource would dispatch it. */
export interface SentEvent {
  readonly event: string
  readonly data: string
  /** The id of this event, or of the last event before it with an id. */
  readonly lastEventId: string
}

/** A parser of server-sent events: HTML Living Standard, section 9.2.6. */
export interface SentParser {
  add(text: string): void
  readonly events: SentEvent[]
  readonly comments: string[]
  readonly retry: number | undefined
}

export function sentParser(): SentParser {
  const events: SentEvent[] = []
  const comments: string[] = []
  let rest = ''
  let retry: number | undefined
  let lastEventId = ''
  let [event, data]: [string, string[]] = ['', []]

  const dispatch = (): void => {
    if (data.length > 0)
      events.push({ event: event || 'message', data: data.join('\n'), lastEventId })
    event = ''
    data = []
  }
  const fields: Readonly<Record<string, (value: string) => void>> = {
    event: (value) => (event = value),
    data: (value) => data.push(value),
    id: (value) => (lastEventId = value),
    retry: (value) => (retry = Number(value)),
    '': (value) => comments.push(value),
  }
  return {
    events,
    comments,
    get retry() {
      return retry
    },
    add(text) {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const [, name = line, value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? []
        if (line === '') dispatch()
        else fields[name]!(value)
      }
    },
  }
}

export interface EventStream {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly sent: SentParser
  /** Resolves when the condition is true for the received events. Rejects if the stream ends first. */
  until(holds: (sent: SentParser) => boolean): Promise<void>
  /** Takes the next `count` events. */
  take(count: number): Promise<SentEvent[]>
  /** Resolves to how the stream ended: normally, or cut off. */
  readonly ended: Promise<'ended' | 'cut off'>
  /** Stops reading, so that the buffers of the connection fill up. */
  pause(): void
  resume(): void
  /** Disconnects. */
  leave(): void
}

/** Opens a stream as `ann`. Resolves when the headers have arrived. */
export function openStream(
  url: string,
  headers: http.OutgoingHttpHeaders = {},
): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const options = { auth: 'ann:ann', agent: false, headers }
    const request = http.get(url, options, (response) => {
      response.setEncoding('utf8')
      const sent = sentParser()
      let taken = 0
      let hasEnded = false
      const waiting = new Set<() => void>()
      const checkAll = (): void => {
        for (const check of waiting) check()
      }
      const ended = new Promise<'ended' | 'cut off'>((end) => {
        response.on('close', () => {
          hasEnded = true
          end(response.complete ? 'ended' : 'cut off')
          checkAll()
        })
      })
      response.on('data', (text: string) => {
        sent.add(text)
        checkAll()
      })
      response.on('error', () => {})
      const until = (holds: (sent: SentParser) => boolean): Promise<void> =>
        new Promise((done, fail) => {
          const check = (): void => {
            const isDone = holds(sent)
            if (!isDone && !hasEnded) return
            waiting.delete(check)
            if (isDone) done()
            else fail(new Error(`the stream ended after ${sent.events.length} events`))
          }
          waiting.add(check)
          check()
        })
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        sent,
        ended,
        until,
        async take(count) {
          const from = taken
          taken += count
          await until(({ events }) => events.length >= from + count)
          return sent.events.slice(from, from + count)
        },
        pause: () => void response.pause(),
        resume: () => void response.resume(),
        leave: () => void request.destroy(),
      })
    })
    request.on('error', reject)
  })
}
