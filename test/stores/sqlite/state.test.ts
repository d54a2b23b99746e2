import Database from 'better-sqlite3'
import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import { expect, it } from 'vitest'
import { tempDir } from '../../support/temp.js'

it('expired values are deleted from the file, a hundred at a time', async () => {
  const temp = tempDir()
  const filename = temp.file('audit.db')
  const clock = manualClock()
  const store = sqliteStore({ filename, clock })
  const reader = new Database(filename)
  const rows = () => reader.prepare('SELECT count(*) FROM daybook_state').pluck().get()
  try {
    await store.updateState('for good', () => 0)
    const values = new Map(Array.from({ length: 150 }, (_, n) => [`${n}`, n]))
    await store.updateStates([...values.keys()], () => values, { keepFor: 1000 })
    clock.advance(1000)
    await store.updateState('for good', () => 1)
    expect(rows()).toBe(151)
    await store.updateState('new', () => 0, { keepFor: 1000 })
    expect(rows()).toBe(52)
    await store.updateState('newer', () => 0, { keepFor: 1000 })
    expect(rows()).toBe(3)
  } finally {
    reader.close()
    await store.close()
    temp.remove()
  }
})
