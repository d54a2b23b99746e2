import assert from 'node:assert/strict'
import { postgresStore } from 'daybook/postgres'
import type { StoreUnderTest } from 'daybook/testing'
import { inject } from 'vitest'
import { citusSchemas } from '../support/citus-schemas.js'
import { type Proxy, startProxy } from '../support/proxy.js'
import { type CaseOptions, describeStore } from './describe-store.js'
import { beginOnPostgres } from './host-transactions.js'
import { writesOf } from './postgres-under-test.js'

const url = inject('citusUrl')
const nodes = inject('citusNodes')
const schemas = citusSchemas(url, 'conformance')

const proxyOf = (address: string): Promise<Proxy> => {
  const { hostname, port } = new URL(`postgres://${address}`)
  return startProxy({ host: hostname, port: Number(port) })
}

/** Transactions of the host run on the coordinator. In cases that break connections, the store connects through proxies. */
async function createCitusStore({ clock, needs }: CaseOptions): Promise<StoreUnderTest> {
  const schema = schemas.take()
  const breaksConnections = needs.includes('interrupt') || needs.includes('loseAcknowledgement')
  const proxies = new Map<string, Proxy>()
  if (breaksConnections)
    for (const address of [new URL(url).host, ...nodes])
      proxies.set(address, await proxyOf(address))
  const through = new URL(url)
  if (breaksConnections) through.port = String(proxies.get(through.host)!.port)
  const addresses = Object.fromEntries(
    [...proxies].map(([address, { port }]) => [address, `127.0.0.1:${port}`]),
  )
  const open = (isDirect = true) =>
    postgresStore({
      clock,
      schema,
      ...(isDirect
        ? { connectionString: url, citus: true }
        : { connectionString: through.href, citus: { nodes: addresses } }),
    })
  const store = open(!breaksConnections)
  // Creates the log.
  await store.get('00000000-0000-0000-0000-000000000000')
  const proxy = breaksConnections ? proxies.get(await schemas.nodeOf(schema)) : undefined
  return {
    store,
    reopen: async () => open(),
    transaction: () => beginOnPostgres(url),
    async interrupt() {
      for (const one of proxies.values()) one.refuse()
      return async () => {
        for (const one of proxies.values()) one.heal()
      }
    },
    async loseAcknowledgement(method) {
      proxy!.loseAnswerTo(writesOf(schema)[method])
    },
    async dispose() {
      await schemas.drop(schema)
      for (const one of proxies.values()) await one.close()
      assert.equal(proxy?.unheard(), undefined)
    },
  }
}

describeStore('citus', createCitusStore)
