import { describeHostile, isInSuite } from './hostile-postgres.js'

describeHostile((name) => !isInSuite(name))
