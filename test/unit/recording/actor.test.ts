import { AsyncResource } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, bindActor, currentActor, withActor } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it } from 'vitest'

const username = (): string | null | undefined => currentActor()?.username

describe('withActor', () => {
  it('returns the result of the function', async () => {
    expect(withActor('ann', () => 7)).toBe(7)
    await expect(withActor('ann', () => delay(1, 'later'))).resolves.toBe('later')
  })

  it('nests, and ends with the function', () => {
    const seen: unknown[] = [username()]
    withActor('ann', () => {
      seen.push(username())
      withActor('bob', () => seen.push(username()))
      withActor(null, () => seen.push(username()))
      seen.push(username())
    })
    expect([...seen, username()]).toEqual([undefined, 'ann', 'bob', null, 'ann', undefined])
  })

  it('ends if the function throws or rejects', async () => {
    const broken = new Error('broken')
    expect(() =>
      withActor('ann', () => {
        throw broken
      }),
    ).toThrow(broken)
    expect(username()).toBeUndefined()
    await expect(withActor('ann', () => Promise.reject(broken))).rejects.toBe(broken)
    expect(username()).toBeUndefined()
  })

  it('reads the name of the actor for each event', () => {
    const actor = { username: null as string | null }
    withActor(actor, () => {
      expect(username()).toBeNull()
      actor.username = 'ann'
      expect(username()).toBe('ann')
    })
  })

  it('sets the user of events, unless the call names one', async () => {
    await using audit: AuditLog = new AuditLog({ store: memoryStore(), types: { 'a:b:c': {} } })
    await audit.record('a:b:c')
    await withActor('ann', async () => {
      await delay(1)
      await audit.record('a:b:c')
      await audit.record('a:b:c', {}, { username: 'bob' })
      await audit.record('a:b:c', {}, { username: null })
      await audit.recordCustom('custom')
      await withActor(null, () => audit.record('a:b:c'))
    })
    const { events } = await audit.list()
    expect(events.map((event) => event.username)).toEqual([null, 'ann', 'bob', null, 'ann', null])
  })
})

describe('bindActor', () => {
  it('runs a function as the actor that bound it', () => {
    const emitter = new EventEmitter()
    const seen: unknown[] = []
    withActor('ann', () => {
      emitter.on('free', () => seen.push(username()))
      emitter.on(
        'free',
        bindActor(() => seen.push(username())),
      )
    })
    emitter.on(
      'free',
      bindActor(() => seen.push(username())),
    )
    withActor('bob', () => emitter.emit('free'))
    expect(seen).toEqual(['bob', 'ann', undefined])
  })

  it('passes on this, arguments, result and errors', () => {
    const bound = bindActor(function (this: { n: number }, more: number) {
      if (more < 0) throw new RangeError('less')
      return this.n + more
    })
    expect(bound.call({ n: 1 }, 2)).toBe(3)
    expect(() => bound.call({ n: 1 }, -1)).toThrow(RangeError)
  })

  it('does not affect other AsyncLocalStorage instances', () => {
    // The context of another library stays that of the caller.
    const resource = new AsyncResource('test')
    const bound = withActor('ann', () => bindActor(() => username()))
    expect(resource.runInAsyncScope(() => withActor('bob', bound))).toBe('ann')
    expect(username()).toBeUndefined()
  })
})
