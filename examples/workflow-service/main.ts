import { startService } from './app.js'
import { readOverrides, readPort, readStore, readTraffic } from './options.js'

try {
  const service = await startService({
    port: readPort(process.env['PORT']),
    store: readStore(process.env['DAYBOOK_STORE']),
    traffic: readTraffic(process.env['DAYBOOK_TRAFFIC']),
    overrides: readOverrides(process.env),
  })
  console.log(`workflow service at ${service.url}`)
  const stop = (): void => {
    service.close().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    )
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
} catch (error) {
  fail(error)
}

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
