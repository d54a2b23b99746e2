import { describeStore } from './describe-store.js'
import { sqliteStoreWith } from './sqlite-under-test.js'

describeStore('sqlite', sqliteStoreWith('inline'))
