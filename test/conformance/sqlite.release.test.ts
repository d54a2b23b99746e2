import { describeStore } from './describe-store.js'
import { onlyWrites, sqliteStoreWith } from './sqlite-under-test.js'

describeStore('sqlite', sqliteStoreWith('thread'), onlyWrites)
