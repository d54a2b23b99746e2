import { describeStore } from './describe-store.js'
import { sqliteStoreWith, writes } from './sqlite-under-test.js'

describeStore('sqlite with a thread', sqliteStoreWith('thread'), writes)
