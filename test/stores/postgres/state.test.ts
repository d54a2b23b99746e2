import { manualClock } from 'daybook/testing'
import { expect, it } from 'vitest'
import { useSchemas } from '../../support/schemas.js'

const schemas = useSchemas('state')

it('expired values are deleted, a hundred per write', async () => {
  const clock = manualClock()
  const store = schemas.openStore({ clock })
  const { pool } = schemas.database()
  const rows = async () =>
    (await pool.query(`SELECT count(*)::int AS rows FROM ${schemas.schema()}.state`)).rows
  try {
    await store.updateState('for good', () => 0)
    const values = new Map(Array.from({ length: 150 }, (_, n) => [`${n}`, n]))
    await store.updateStates([...values.keys()], () => values, { keepFor: 1000 })
    clock.advance(1000)
    await store.updateState('for good', () => 1)
    expect(await rows()).toEqual([{ rows: 151 }])
    await store.updateState('new', () => 0, { keepFor: 1000 })
    expect(await rows()).toEqual([{ rows: 52 }])
    await store.updateState('newer', () => 0, { keepFor: 1000 })
    expect(await rows()).toEqual([{ rows: 3 }])
  } finally {
    await store.close()
  }
})
