import { AuditLog, defineEventTypes } from 'daybook'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import { readSetup, serveJobs } from '../harness/workers.js'
import { type Framework, PATH, services } from './recorded-services.js'

/* The same small service twice: with recorded requests and without. */

export interface Setup {
  readonly store: StoreSetup
  readonly framework: Framework
}

/** The answer to `urls` are the URLs of both services, to `close` the number of stored events. */
export type Job = 'urls' | 'close'
export type Answer = { readonly recorded: string; readonly plain: string } | number

const { store, framework } = readSetup() as Setup
const audit: AuditLog = new AuditLog({
  store: openStore(store),
  types: defineEventTypes({ 'api:things:create': {} }),
})
const recorded = await services[framework](audit)
const plain = await services[framework](undefined)
const urls = { recorded: recorded.url + PATH, plain: plain.url + PATH }

async function close(): Promise<number> {
  recorded.close()
  plain.close()
  await audit.close()
  return audit.stats().stored
}

serveJobs((job: Job) => (job === 'urls' ? urls : close()))
