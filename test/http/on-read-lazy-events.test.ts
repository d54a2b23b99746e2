import type { AuditEvent } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { expect, it } from 'vitest'
import { listOf, serve } from '../support/http.js'
import { tempDir } from '../support/temp.js'

it('onRead receives whole events even if the store has not parsed their attributes', async () => {
  const temp = tempDir()
  const given: AuditEvent[] = []
  const onRead = (_context: unknown, { events }: { events: readonly AuditEvent[] }): void =>
    void given.push(...events.map((event) => ({ ...event })))
  const store = sqliteStore({ filename: temp.file('audit.db') })
  const server = await serve({ store, feed: { onRead } })
  try {
    await server.audit.recordCustom('deploy:note', { text: 'hello' })
    const [resource] = listOf(await server.send('/api/events')).data
    expect(given.map(({ attributes }) => attributes)).toEqual([{ text: 'hello' }])
    expect(resource?.attributes['text']).toBe('hello')
  } finally {
    await server.close()
    temp.remove()
  }
})
