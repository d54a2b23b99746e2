import { fromKysely } from 'daybook/orm'
import { expect, it } from 'vitest'

const withoutPlugins = () => ({ executeQuery: async () => ({ rows: [] }) })

it.each([
  ['of a function', { isTransaction: true }, true],
  ['that its owner ends', { isTransaction: true, isCommitted: false, isRolledBack: false }, true],
  ['that is committed', { isTransaction: true, isCommitted: true, isRolledBack: false }, false],
  ['that is rolled back', { isTransaction: true, isCommitted: false, isRolledBack: true }, false],
  ['that is a connection', { isTransaction: false }, false],
])('a transaction of Kysely %s', (_, state, isOpen) => {
  const use = () => fromKysely({ ...state, withoutPlugins } as Parameters<typeof fromKysely>[0])
  if (isOpen) expect(use).not.toThrow()
  else expect(use).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})
