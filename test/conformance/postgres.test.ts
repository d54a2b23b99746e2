import { inject } from 'vitest'
import { describeStore } from './describe-store.js'
import { createPostgresStore } from './postgres-under-test.js'

describeStore('postgres', ({ clock }) =>
  createPostgresStore(inject('postgresUrl'), { clock }, 'lock'),
)
