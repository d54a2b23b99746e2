import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import {
  createKeepAliveTimer,
  type KeepAliveTimer,
  KeptAlive,
  type Rendering,
  type Ticked,
} from '../../src/http/events/keep-alive.js'
import { sendStream } from '../../src/http/send-stream.js'
import { stateOf, turns } from '../unit/fake-store.js'

/** A response whose buffer is full after each chunk until it drains. */
function fullResponse(contentType = 'text/csv'): {
  response: ServerResponse
  did: string[]
  emitter: EventEmitter
} {
  const did: string[] = []
  const emitter = new EventEmitter()
  const response = Object.assign(emitter, {
    destroyed: false,
    headersSent: false,
    getHeader: () => contentType,
    flushHeaders() {
      this.headersSent = true
      did.push('headers')
    },
    write(chunk: string) {
      this.headersSent = true
      return did.push(chunk) < 0
    },
    end: () => did.push('end'),
    destroy() {
      this.destroyed = true
      did.push('destroy')
      emitter.emit('close')
    },
  })
  return { response: response as unknown as ServerResponse, did, emitter }
}

describe('sendStream', () => {
  async function* body(did: string[], error?: Error): AsyncGenerator<string> {
    try {
      yield 'a'
      yield 'b'
      if (error) throw error
    } finally {
      did.push('let go')
    }
  }

  it('reads the body no faster than the client', async () => {
    const { response, did, emitter } = fullResponse()
    const sending = sendStream(response, body(did))
    await turns()
    expect(did).toEqual(['a'])
    emitter.emit('drain')
    await turns()
    expect(did).toEqual(['a', 'b'])
    emitter.emit('drain')
    await sending
    expect(did).toEqual(['a', 'b', 'let go', 'end'])
    expect(emitter.eventNames()).toEqual([])
  })

  it('sends the headers of server-sent events before the first of them', async () => {
    const { response, did, emitter } = fullResponse('text/event-stream; charset=utf-8')
    const sending = sendStream(response, body(did))
    await turns()
    emitter.emit('drain')
    await turns()
    emitter.emit('drain')
    await sending
    expect(did).toEqual(['headers', 'a', 'b', 'let go', 'end'])
  })

  it('ends the body when the client disconnects', async () => {
    const { response, did } = fullResponse()
    const sending = sendStream(response, body(did))
    await turns()
    response.destroy()
    await sending
    expect(did).toEqual(['a', 'destroy', 'let go'])
  })

  it('destroys the response if the body throws', async () => {
    const { response, did, emitter } = fullResponse()
    const error = new Error('no more')
    const sending = sendStream(response, body(did, error))
    for (let i = 0; i < 2; i++) {
      await turns()
      emitter.emit('drain')
    }
    await expect(sending).rejects.toBe(error)
    expect(did).toEqual(['a', 'b', 'let go', 'destroy'])
  })
})

describe('a stream that is kept alive', () => {
  /** A timer that the test triggers. */
  function handTimer(): { timer: KeepAliveTimer; tick(): void; listening(): number } {
    const beats = new Set<Ticked>()
    return {
      tick() {
        for (const ticked of beats) ticked.tick()
      },
      listening: () => beats.size,
      timer: {
        add: (ticked) => void beats.add(ticked),
        delete: (ticked) => void beats.delete(ticked),
      },
    }
  }

  const keepAlive = (
    chunks: AsyncGenerator<string, void, void>,
    timer: KeepAliveTimer,
    rendering: Partial<Rendering<string, string>> = {},
  ): KeptAlive<string, string> =>
    new KeptAlive(chunks, {
      comment: ':',
      timer,
      chunkOf: (chunk) => chunk,
      isEnd: () => false,
      ...rendering,
    })

  /** Chunks that the test supplies. */
  function handChunks(): {
    chunks: AsyncGenerator<string, void, void>
    give: (chunk: string) => void
  } {
    let give = (_chunk: string): void => {}
    async function* run(): AsyncGenerator<string, void, void> {
      for (;;) {
        const chunk = await new Promise<string>((resolve) => {
          give = resolve
        })
        if (chunk === 'end') return
        if (chunk === 'error') throw new Error('failed')
        yield chunk
      }
    }
    return { chunks: run(), give: (chunk) => give(chunk) }
  }

  it('yields comments while idle, and loses no chunks', async () => {
    const { timer, tick, listening } = handTimer()
    const { chunks, give } = handChunks()
    const kept = keepAlive(chunks, timer)
    const first = kept.next()
    expect(await stateOf(first)).toBe('waiting')
    tick()
    expect((await first).value).toBe(':')
    // Arrives while the consumer does not ask.
    give('a')
    await turns()
    tick()
    expect((await kept.next()).value).toBe('a')
    const next = kept.next()
    await turns()
    give('b')
    expect((await next).value).toBe('b')
    const last = kept.next()
    await turns()
    give('end')
    expect((await last).done).toBe(true)
    expect(listening()).toBe(0)
  })

  it('rethrows an error and removes its listener', async () => {
    const { timer, listening } = handTimer()
    const { chunks, give } = handChunks()
    const next = keepAlive(chunks, timer).next()
    await turns()
    expect(listening()).toBe(1)
    give('error')
    await expect(next).rejects.toThrow('failed')
    expect(listening()).toBe(0)
  })

  it('begins with its first chunk, and ends normally with an error that is its end', async () => {
    const { timer, listening } = handTimer()
    const { chunks, give } = handChunks()
    const kept = keepAlive(chunks, timer, { first: 'first', isEnd: () => true })
    expect(await kept.next()).toEqual({ done: false, value: 'first' })
    const next = kept.next()
    await turns()
    give('error')
    expect((await next).done).toBe(true)
    expect((await kept.next()).done).toBe(true)
    expect(listening()).toBe(0)
  })

  it('renders items, and closes them if that fails', async () => {
    const { timer, listening } = handTimer()
    const did: string[] = []
    async function* items(): AsyncGenerator<string, void, void> {
      try {
        yield 'a'
        yield 'b'
        yield 'c'
      } finally {
        did.push('closed')
      }
    }
    const kept = keepAlive(items(), timer, {
      chunkOf(item) {
        if (item === 'a') return 'A'
        if (item === 'b') return Promise.resolve('B')
        throw new Error('not rendered')
      },
    })
    expect((await kept.next()).value).toBe('A')
    expect((await kept.next()).value).toBe('B')
    await expect(kept.next()).rejects.toThrow('not rendered')
    await turns()
    expect(did).toEqual(['closed'])
    expect((await kept.next()).done).toBe(true)
    expect(listening()).toBe(0)
  })

  it('ends while the consumer waits if it is closed', async () => {
    const { timer, listening } = handTimer()
    const { chunks, give } = handChunks()
    const kept = keepAlive(chunks, timer)
    const next = kept.next()
    await turns()
    const closed = kept.return()
    expect((await next).done).toBe(true)
    give('end')
    await closed
    expect(listening()).toBe(0)
  })

  it('has no timer without listeners', () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length - before
    const timer = createKeepAliveTimer(60_000)
    const ticked: Ticked[] = [{ tick() {} }, { tick() {} }]
    for (const one of ticked) timer.add(one)
    expect(timers()).toBe(1)
    for (const one of ticked) timer.delete(one)
    expect(timers()).toBe(0)
  })
})
