import { describeStore } from './describe-store.js'
import { dependsOnThread, sqliteStoreWith } from './sqlite-under-test.js'

describeStore('sqlite', sqliteStoreWith('thread'), dependsOnThread)
describeStore('sqlite inline', sqliteStoreWith('inline'))
