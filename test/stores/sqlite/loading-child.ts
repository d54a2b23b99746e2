import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { startThread, threadFile } from '../../../adapters/sqlite/connection/thread.js'

/*
 * Exits while a thread loads its driver: `<file that the thread writes at its beginning> <file that it writes after
 * loading>`.
 */
const [begun = '', loaded = ''] = process.argv.slice(2)
void startThread(threadFile(import.meta.url, 'loading-thread'), { begun, loaded })
while (!fs.existsSync(begun)) await delay(1)
process.exit(0)
