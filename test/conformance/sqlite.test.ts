import { describeStore } from './describe-store.js'
import { openSqlite } from './sqlite-under-test.js'

describeStore('sqlite', openSqlite)
