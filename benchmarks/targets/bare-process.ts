import Database from 'better-sqlite3'
import { serveJobs } from '../harness/workers.js'

/* A process that has loaded the driver of SQLite and nothing else. Answers with its resident memory. */

new Database(':memory:').close()

serveJobs(() => process.memoryUsage.rss())
