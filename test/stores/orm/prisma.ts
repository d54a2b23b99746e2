import { createRequire } from 'node:module'
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { PrismaPg } from '@prisma/adapter-pg'
import { getPrismaClient, type GetPrismaClientConfig } from '@prisma/client/runtime/client'
import { fromPrisma } from 'daybook/orm'
import type { Library, LibraryUnderTest, Scope } from './library.js'

/** The part of a generated client, or of its transactions, that the tests use. */
interface Client {
  $queryRawUnsafe(sql: string, ...values: unknown[]): Promise<unknown>
  $executeRawUnsafe(sql: string, ...values: unknown[]): Promise<number>
  $transaction(act: (tx: Client) => Promise<unknown>): Promise<unknown>
}

type Provider = 'sqlite' | 'postgresql'

const require = createRequire(import.meta.url)

const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: { readonly Module: new (bytes: Uint8Array) => object }
}

/** The configuration of a client that `prisma generate` makes of a schema without models. */
function configOf(provider: Provider): GetPrismaClientConfig {
  const compiler = `@prisma/client/runtime/query_compiler_fast_bg.${provider}`
  return {
    previewFeatures: [],
    clientVersion: '7.10.0',
    engineVersion: '',
    activeProvider: provider,
    inlineSchema: `datasource db {\n  provider = "${provider}"\n}\n`,
    runtimeDataModel: { models: {}, enums: {}, types: {} },
    parameterizationSchema: { strings: [], graph: 'AAAA' },
    compilerWasm: {
      getRuntime: async () => require(`${compiler}.js`) as object,
      async getQueryCompilerWasmModule() {
        const { wasm } = require(`${compiler}.wasm-base64.js`) as { readonly wasm: string }
        return new WebAssembly.Module(Buffer.from(wasm, 'base64'))
      },
      importName: './query_compiler_fast_bg.js',
    },
  } as GetPrismaClientConfig
}

const scope = (tx: Client): Scope => ({
  handle: () => fromPrisma(tx),
  insertOrder: (n) => tx.$executeRawUnsafe(`INSERT INTO orders VALUES (${n})`),
  savepoint: (act) => tx.$transaction(async (inner) => act(scope(inner))),
})

export const prisma: LibraryUnderTest = {
  name: 'Prisma',
  nests: true,
  async open(place): Promise<Library> {
    const adapter =
      'url' in place
        ? new PrismaPg({ connectionString: place.url })
        : new PrismaBetterSqlite3({ url: `file:${place.filename}` })
    const PrismaClient = getPrismaClient(configOf('url' in place ? 'postgresql' : 'sqlite'))
    // The defaults are too short: a transaction must begin within two seconds, and end within five.
    const transactionOptions = { maxWait: 60_000, timeout: 60_000 }
    const client = new PrismaClient({ adapter, transactionOptions }) as unknown as Client & {
      $connect(): Promise<void>
      $disconnect(): Promise<void>
    }
    return {
      transaction: (act) => client.$transaction(async (tx) => act(scope(tx))),
      outside: {
        // @ts-expect-error The compiler refuses a client too.
        'a client': () => fromPrisma(client),
        'the client itself': () => client,
      },
      close: () => client.$disconnect(),
    }
  },
}
