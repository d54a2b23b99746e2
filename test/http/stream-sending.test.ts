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
  calls: string[]
  emitter: EventEmitter
} {
  const calls: string[] = []
  const emitter = new EventEmitter()
  const response = Object.assign(emitter, {
    destroyed: false,
    headersSent: false,
    getHeader: () => contentType,
    flushHeaders() {
      this.headersSent = true
      calls.push('headers')
    },
    write(chunk: string) {
      this.headersSent = true
      return calls.push(chunk) < 0
    },
    end: () => calls.push('end'),
    destroy() {
      this.destroyed = true
      calls.push('destroy')
      emitter.emit('close')
    },
  })
  return { response: response as unknown as ServerResponse, calls, emitter }
}

describe('sendStream', () => {
  async function* body(calls: string[], error?: Error): AsyncGenerator<string> {
    try {
      yield 'a'
      yield 'b'
      if (error) throw error
    } finally {
      calls.push('body closed')
    }
  }

  it('reads the body no faster than the client', async () => {
    const { response, calls, emitter } = fullResponse()
    const sending = sendStream(response, body(calls))
    await turns()
    expect(calls).toEqual(['a'])
    emitter.emit('drain')
    await turns()
    expect(calls).toEqual(['a', 'b'])
    emitter.emit('drain')
    await sending
    expect(calls).toEqual(['a', 'b', 'body closed', 'end'])
    expect(emitter.eventNames()).toEqual([])
  })

  it('sends the headers of server-sent events before the first event', async () => {
    const { response, calls, emitter } = fullResponse('text/event-stream; charset=utf-8')
    const sending = sendStream(response, body(calls))
    await turns()
    emitter.emit('drain')
    await turns()
    emitter.emit('drain')
    await sending
    expect(calls).toEqual(['headers', 'a', 'b', 'body closed', 'end'])
  })

  it('ends the body when the client disconnects', async () => {
    const { response, calls } = fullResponse()
    const sending = sendStream(response, body(calls))
    await turns()
    response.destroy()
    await sending
    expect(calls).toEqual(['a', 'destroy', 'body closed'])
  })

  it('destroys the response if the body throws', async () => {
    const { response, calls, emitter } = fullResponse()
    const error = new Error('no more')
    const sending = sendStream(response, body(calls, error))
    for (let i = 0; i < 2; i++) {
      await turns()
      emitter.emit('drain')
    }
    await expect(sending).rejects.toBe(error)
    expect(calls).toEqual(['a', 'b', 'body closed', 'destroy'])
  })
})

describe('a stream with keep-alive comments', () => {
  /** A timer that the test triggers. */
  function manualTimer(): { timer: KeepAliveTimer; tick(): void; listening(): number } {
    const listeners = new Set<Ticked>()
    return {
      tick() {
        for (const ticked of listeners) ticked.tick()
      },
      listening: () => listeners.size,
      timer: {
        add: (ticked) => void listeners.add(ticked),
        delete: (ticked) => void listeners.delete(ticked),
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
  function manualChunks(): {
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
    const { timer, tick, listening } = manualTimer()
    const { chunks, give } = manualChunks()
    const kept = keepAlive(chunks, timer)
    const first = kept.next()
    expect(await stateOf(first)).toBe('waiting')
    tick()
    expect((await first).value).toBe(':')
    // This chunk arrives between two calls of `next`.
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
    const { timer, listening } = manualTimer()
    const { chunks, give } = manualChunks()
    const next = keepAlive(chunks, timer).next()
    await turns()
    expect(listening()).toBe(1)
    give('error')
    await expect(next).rejects.toThrow('failed')
    expect(listening()).toBe(0)
  })

  it('yields the option `first` first, and ends normally if `isEnd` accepts the error', async () => {
    const { timer, listening } = manualTimer()
    const { chunks, give } = manualChunks()
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
    const { timer, listening } = manualTimer()
    const calls: string[] = []
    async function* items(): AsyncGenerator<string, void, void> {
      try {
        yield 'a'
        yield 'b'
        yield 'c'
      } finally {
        calls.push('closed')
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
    expect(calls).toEqual(['closed'])
    expect((await kept.next()).done).toBe(true)
    expect(listening()).toBe(0)
  })

  it('ends when it is closed while the consumer waits', async () => {
    const { timer, listening } = manualTimer()
    const { chunks, give } = manualChunks()
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
