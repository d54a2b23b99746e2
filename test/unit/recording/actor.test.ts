import { AsyncResource } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, bindActor, currentActor, withActor } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it } from 'vitest'

const username = (): string | null | undefined => currentActor()?.username

describe('withActor', () => {
  it('gives back what is run', async () => {
    expect(withActor('ann', () => 7)).toBe(7)
    await expect(withActor('ann', () => delay(1, 'later'))).resolves.toBe('later')
  })

  it('nests, and ends with what it runs', () => {
    const seen: unknown[] = [username()]
    withActor('ann', () => {
      seen.push(username())
      withActor('bob', () => seen.push(username()))
      withActor(null, () => seen.push(username()))
      seen.push(username())
    })
    expect([...seen, username()]).toEqual([undefined, 'ann', 'bob', null, 'ann', undefined])
  })

  it('ends when what it runs throws or rejects', async () => {
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

  it('reads the name of an actor whenever it is asked for', () => {
    const actor = { username: null as string | null }
    withActor(actor, () => {
      expect(username()).toBeNull()
      actor.username = 'ann'
      expect(username()).toBe('ann')
    })
  })

  it('is who events are recorded by, unless the call says otherwise', async () => {
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
  it('keeps a function to the actor it was bound by', () => {
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

  it('passes on this, arguments, result and what is thrown', () => {
    const bound = bindActor(function (this: { n: number }, more: number) {
      if (more < 0) throw new RangeError('less')
      return this.n + more
    })
    expect(bound.call({ n: 1 }, 2)).toBe(3)
    expect(() => bound.call({ n: 1 }, -1)).toThrow(RangeError)
  })

  it('leaves alone what else follows the course of calls', () => {
    // Another library's context goes with the caller, not with whom the function was bound by.
    const resource = new AsyncResource('test')
    const bound = withActor('ann', () => bindActor(() => username()))
    expect(resource.runInAsyncScope(() => withActor('bob', bound))).toBe('ann')
    expect(username()).toBeUndefined()
  })
})
