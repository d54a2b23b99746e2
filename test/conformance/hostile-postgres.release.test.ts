import { describeHostile } from './hostile-postgres.js'

describeHostile(() => true)
