import Database from 'better-sqlite3'
import { AuditLogError } from 'daybook'
import { expect, it } from 'vitest'
import { cloneError, errorOfClone } from '../../../adapters/sqlite/write/cloned-errors.js'

/** The error as the other thread receives it. */
const sent = (error: unknown): Error => errorOfClone(structuredClone(cloneError(error)))

it('an error keeps its class, its code and its causes', () => {
  const database = new Database(':memory:')
  let cause: unknown
  try {
    database.exec('SELEC')
  } catch (error) {
    cause = error
  }
  database.close()
  const error = new AuditLogError('STORE_FAILED', 'the store failed', { pointer: '/0/id', cause })
  const received = sent(error)
  expect(received).toBeInstanceOf(AuditLogError)
  expect(received).toMatchObject({ code: 'STORE_FAILED', pointer: '/0/id' })
  expect(received.message).toBe(error.message)
  expect(received.stack).toBe(error.stack)
  expect(received.cause).toBeInstanceOf(Error)
  expect(received.cause).toMatchObject({ name: 'SqliteError', code: 'SQLITE_ERROR' })
})

it('causes that form a cycle end', () => {
  const error = new Error('outer')
  error.cause = new Error('inner', { cause: error })
  expect(sent(error).cause).toMatchObject({ message: 'inner' })
})

it('a thrown value that is no error becomes one', () => {
  expect(sent('text')).toMatchObject({ message: 'text' })
})
