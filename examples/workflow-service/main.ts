import {
  readOverrides,
  readPort,
  readStore,
  readTraffic,
  wantsHistory,
  wantsReceivers,
} from './options.js'

try {
  const store = readStore(process.env['DAYBOOK_STORE'])
  const traffic = readTraffic(process.env['DAYBOOK_TRAFFIC'])
  const port = readPort(process.env['PORT'])
  // Only now, so that a missing package is an error like any other.
  const { startService } = await import('./app.js')
  const receivers = wantsReceivers(process.stdout.isTTY, { traffic })
  const service = await startService({
    port,
    store,
    traffic,
    history: wantsHistory(process.stdout.isTTY, { store, traffic }),
    receivers,
    overrides: readOverrides(process.env),
  })
  console.log(`workflow service at ${service.url}`)
  console.log(`audit page at ${service.url}/audit`)
  console.log('users: ann, bob, and eve, who may only read; the password of each is their name')
  if (receivers) console.log(`webhooks and mails that arrive: ${service.url}/received`)
  for (const line of service.ledger) console.log(line)
  const stop = (): void => {
    service.close().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    )
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  service.sealed.catch(reportUnsealed)
  // The service reports an import that fails.
  const imported = await service.history.catch(() => 0)
  if (imported > 0)
    console.log(`imported ${imported} events of the last days, with demo_history: true`)
} catch (error) {
  fail(error)
}

/** Prints why nothing is sealed. The service works all the same. */
function reportUnsealed(error: unknown): void {
  const { code, message } = error as { readonly code?: unknown; readonly message: string }
  if (code === 'LEDGER_DIVERGED')
    console.log(`ledger: nothing is sealed, because ${message}; delete the database to begin again`)
}

function fail(error: unknown): void {
  const { message, code } = Object(error) as { message?: string; code?: unknown }
  const [line] = (message ?? String(error)).split('\n')
  console.error(code === 'ERR_MODULE_NOT_FOUND' ? `${line}: run npm install` : line)
  process.exit(1)
}
