import { expect, it } from 'vitest'
import { blocksOf, docPages } from '../support/doc-pages.js'
import { runExample } from './run-example.js'

/* Runs the examples of the page on metrics as they stand, with the real packages. */
const page = docPages.find(({ file }) => file === 'docs/guide/metrics.md')!

function recipe(name: string): string {
  const found = blocksOf(page, 'ts').find(({ code }) => code.includes(`from '${name}'`))
  if (!found) throw new Error(`${page.file} has no example for ${name}`)
  return found.code
}

const before = `
import { AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
const types = { 'warn:disk:full': { throttle: { period: { hours: 1 } } }, 'api:orders:create': {} }
const audit = new AuditLog({ store: memoryStore(), types })
audit.on('rejected', () => {})
`

const use = `
for (let i = 0; i < 3; i++) await audit.record('warn:disk:full')
await audit.record('api:orders:create')
await audit.record('no:such:type').catch(() => {})
void audit.record('api:orders:create')
`

async function run(code: string): Promise<string> {
  const child = runExample('recipe', code)
  expect([await child.ended, child.stderr()]).toEqual([0, ''])
  return child.stdout()
}

it('prom-client', async () => {
  const output = await run(
    `import { register } from 'prom-client'\n${before}${recipe('prom-client')}${use}
     console.log(await register.metrics())`,
  )
  expect(output.split('\n').filter((line) => line.startsWith('audit_'))).toEqual([
    'audit_calls_total{outcome="stored",level="warn"} 1',
    'audit_calls_total{outcome="suppressed",level="warn"} 2',
    'audit_calls_total{outcome="stored",level="api"} 1',
    'audit_calls_total{outcome="rejected",level="no"} 1',
    'audit_waiting 1',
    'audit_health{part="store"} 0',
    'audit_health{part="recording"} 0',
  ])
})

it('OpenTelemetry', async () => {
  const output = await run(
    `import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
     const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
     const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1e6 })
     metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
     ${before}${recipe('@opentelemetry/api')}${use}
     await reader.forceFlush()
     for (const { scopeMetrics } of exporter.getMetrics())
       for (const { metrics } of scopeMetrics)
         for (const { descriptor, dataPoints } of metrics)
           for (const { attributes, value } of dataPoints)
             console.log(descriptor.name, JSON.stringify(attributes), value)
     await reader.shutdown()`,
  )
  expect(output.trim().split('\n')).toEqual([
    'audit.calls {"outcome":"stored","level":"warn"} 1',
    'audit.calls {"outcome":"suppressed","level":"warn"} 2',
    'audit.calls {"outcome":"stored","level":"api"} 1',
    'audit.calls {"outcome":"rejected","level":"no"} 1',
    'audit.waiting {} 1',
  ])
})

it('pino', async () => {
  const output = await run(`${before}${recipe('pino')}${use}
    await audit.flush()
    await audit.close()`)
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const stored = { level: 30, msg: 'audit event stored', user: null }
  expect(lines).toMatchObject([
    { ...stored, type: 'warn:disk:full' },
    { ...stored, type: 'api:orders:create' },
    {
      level: 50,
      msg: 'audit event rejected',
      type: 'no:such:type',
      err: { code: 'UNKNOWN_EVENT_TYPE' },
    },
    { ...stored, type: 'api:orders:create' },
  ])
})
