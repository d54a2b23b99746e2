import type { ImportedEvent } from 'daybook'
import { describe, expect, it } from 'vitest'
import { freshEvents } from '../../../src/event/importing.js'

const imported = (id: string, time: number, type = 'x'): ImportedEvent => ({
  event: { id, created_at: '', username: null, system: true, type, source: null, attributes: {} },
  time,
  json: '{}',
})

/** The types of the fresh events, if these events are stored. */
function fresh(candidates: readonly ImportedEvent[], stored: readonly ImportedEvent[] = []) {
  const events = freshEvents(candidates, 1000, {
    at: (time) => stored.find((one) => one.time === time),
    hasId: (id) => stored.some((one) => one.event.id === id),
  })
  return events.map(({ event, time }) => `${event.id}@${time}`)
}

const conflict = expect.objectContaining({ name: 'AuditLogError', code: 'IMPORT_CONFLICT' })

describe('freshEvents', () => {
  it('are the events that are not stored yet, in their order', () => {
    const [a, b, c] = [imported('a', 30), imported('b', 10), imported('c', 20)]
    expect(fresh([])).toEqual([])
    expect(fresh([a, b, c])).toEqual(['a@30', 'b@10', 'c@20'])
    expect(fresh([a, b, c], [b])).toEqual(['a@30', 'c@20'])
  })

  it('exclude a repeated event with the same content', () => {
    const a = imported('a', 1)
    expect(fresh([a, imported('a', 1), a])).toEqual(['a@1'])
  })

  it.each<[string, ImportedEvent[], ImportedEvent[]]>([
    ['a stored time with another id', [imported('b', 1)], [imported('a', 1)]],
    ['a stored id at another time', [imported('a', 2)], [imported('a', 1)]],
    ['a stored event with another content', [imported('a', 1, 'y')], [imported('a', 1)]],
    [
      'a stored event with other attributes',
      [{ ...imported('a', 1), json: '[]' }],
      [imported('a', 1)],
    ],
    ['a time that an earlier event of the call has', [imported('a', 1), imported('b', 1)], []],
    ['an id that an earlier event of the call has', [imported('a', 1), imported('a', 2)], []],
    [
      'an earlier event of the call with another content',
      [imported('a', 1), imported('a', 1, 'y')],
      [],
    ],
    ['a time later than now', [imported('a', 1001)], []],
  ])('conflict by %s', (_, candidates, stored) => {
    expect(() => fresh(candidates, stored)).toThrow(conflict)
  })

  it('may have the current time', () => {
    expect(fresh([imported('a', 1000)])).toEqual(['a@1000'])
  })

  it('name the conflicting event', () => {
    expect(() => fresh([imported('a', 1001)])).toThrow(
      /^the event a has a created_at, .*in the future/,
    )
    expect(() => fresh([imported('a', 1), imported('b', 1)])).toThrow(
      /^the event b has an id or a /,
    )
  })
})
