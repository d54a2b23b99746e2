import { describeHostile, isInSuite } from './hostile-postgres.js'

describeHostile(isInSuite)
