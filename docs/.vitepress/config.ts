/* The site of `docs`. It loads nothing from other hosts: fonts and the search index are part of the build. */
const page = (text: string, link: string): { text: string; link: string } => ({ text, link })

/** Files outside of `docs` that pages link to, and where the site has copies of them. */
const COPIES: readonly (readonly [from: string, to: string])[] = [
  ['../../benchmarks/', '../benchmarks/'],
]

interface LinkToken {
  readonly type: string
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
  readonly children: readonly LinkToken[] | null
}

interface MarkdownIt {
  readonly core: {
    readonly ruler: {
      push(name: string, rule: (state: { readonly tokens: readonly LinkToken[] }) => void): void
    }
  }
}

/** Leads links that are right in the repository to the copies that the site has. */
function leadToCopies(md: MarkdownIt): void {
  md.core.ruler.push('lead-to-copies', ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const link = token.type === 'link_open' ? token.attrGet('href') : null
      const copy = COPIES.find(([from]) => link?.startsWith(from))
      if (copy) token.attrSet('href', link!.replace(...copy))
    }
  })
}

export default {
  title: 'Daybook',
  description: 'An embedded audit log for Node services',
  lang: 'en',
  srcExclude: ['**/node_modules/**'],
  markdown: { config: leadToCopies },
  vite: {
    // Screenshots are beside `docs`.
    server: { fs: { allow: ['..'] } },
    build: { chunkSizeWarningLimit: 3000 },
  },
  themeConfig: {
    search: { provider: 'local' as const },
    outline: { level: [2, 3] as [number, number] },
    nav: [
      page('Guide', '/guide/getting-started'),
      page('Reference', '/reference/audit-log'),
      page('Internals', '/internals/index-and-queries'),
      page('API', '/api/'),
    ],
    sidebar: {
      '/guide/': [
        {
          text: 'Start',
          items: [
            page('Getting started', '/guide/getting-started'),
            page('Tour', '/guide/tour'),
            page('Choose a store', '/guide/choose-a-store'),
            page('Costs, and when not to use it', '/guide/when-to-use'),
            page('Troubleshooting', '/guide/troubleshooting'),
          ],
        },
        {
          text: 'Record',
          items: [
            page('Record events', '/guide/record-events'),
            page('Record requests', '/guide/record-requests'),
            page('Actors and correlation', '/guide/actors'),
            page('Jobs and queues', '/guide/jobs'),
            page('Transactions', '/guide/transactions'),
            page('Transactions of ORMs', '/guide/orm-transactions'),
            page('Changes', '/guide/changes'),
            page('Capture changes', '/guide/capture-changes'),
            page('Live events', '/guide/live-events'),
            page('Intents', '/guide/intents'),
            page('Throttling', '/guide/throttling'),
            page('Sentences', '/guide/sentences'),
            page('Import', '/guide/import'),
            page('Testing', '/guide/testing'),
          ],
        },
        {
          text: 'Read',
          items: [
            page('Query events', '/guide/query-events'),
            page('Count events', '/guide/count-events'),
            page('Follow events', '/guide/follow'),
            page('Subscriptions', '/guide/subscriptions'),
            page('Channels', '/guide/channels'),
            page('Other formats', '/guide/formats'),
            page('From the log to a SIEM', '/guide/siem'),
            page('The audit page', '/guide/audit-page'),
            page('Embed the page', '/guide/embed'),
            page('Serve a log', '/guide/serve-a-log'),
          ],
        },
        {
          text: 'Serve over HTTP',
          items: [
            page('Serve HTTP', '/guide/serve-http'),
            page('Frameworks', '/guide/frameworks'),
            page('Next.js', '/guide/nextjs'),
            page('Access', '/guide/access'),
            page('Your own login and tenants', '/guide/own-login'),
            page('Manage subscriptions', '/guide/manage-subscriptions'),
            page('Named views', '/guide/named-views'),
            page('Lists of your own', '/guide/lists'),
            page('Clients', '/guide/clients'),
          ],
        },
        {
          text: 'Operate',
          items: [
            page('Shutdown', '/guide/shutdown'),
            page('Backup, restore and upgrade', '/guide/backup'),
            page('Outages', '/guide/outages'),
            page('High availability', '/guide/high-availability'),
            page('Citus', '/guide/citus'),
            page('Damage', '/guide/damage'),
            page('The ledger', '/guide/ledger'),
            page('The ledger, for auditors', '/guide/ledger-auditors'),
            page('Erase personal data', '/guide/erasure'),
            page('Erasure, for data protection officers', '/guide/data-protection'),
            page('Metrics', '/guide/metrics'),
            page('Health', '/guide/health'),
            page('Command line', '/guide/command-line'),
            page('Read replicas and poolers', '/guide/replicas'),
            page('Many logs', '/guide/many-logs'),
            page('Cleaning', '/guide/cleaning'),
            page('Compliance', '/guide/compliance'),
            page('Archive and query', '/guide/archive-and-query'),
            page('Slow queries', '/guide/slow-queries'),
            page('Performance', '/guide/performance'),
            page('Capacity', '/guide/capacity'),
            page('Large logs', '/guide/large-logs'),
            page('Stores of your own', '/guide/own-store'),
          ],
        },
      ],
      '/reference/': [
        {
          text: 'Reference',
          items: [
            page('AuditLog', '/reference/audit-log'),
            page('Events', '/reference/events'),
            page('Event types', '/reference/event-types'),
            page('Sentence templates', '/reference/sentence-templates'),
            page('Queries', '/reference/queries'),
            page('Counts', '/reference/counts'),
            page('HTTP', '/reference/http'),
            page('Request events', '/reference/request-events'),
            page('Errors', '/reference/errors'),
            page('Format of the ledger', '/reference/ledger-format'),
            page('What a verification finds', '/reference/ledger-attacks'),
            page('Limits', '/reference/limits'),
            page('SQLite store', '/reference/sqlite'),
            page('Postgres store', '/reference/postgres'),
            page('Keys of persons', '/reference/subject-keys'),
            page('Workflow event types', '/reference/workflow-event-types'),
            page('Differences from Ransack', '/reference/ransack'),
            page('Deviations', '/reference/deviations'),
            page('Known limitations', '/reference/limitations'),
          ],
        },
        {
          text: 'Commands',
          items: [
            'list',
            'get',
            'count',
            'tail',
            'export',
            'stats',
            'subscriptions',
            'import',
            'clean',
            'erase',
            'erasures',
            'subject-report',
            'keys',
            'verify',
            'keygen',
            'check-proof',
            'checkpoint',
            'prove',
            'migrate',
            'rebuild',
            'doctor',
            'serve',
          ].map((command) => page(`daybook ${command}`, `/reference/commands/${command}`)),
        },
      ],
      '/internals/': [
        {
          text: 'Internals',
          items: [
            page('The index', '/internals/index-and-queries'),
            page('Postgres servers', '/internals/postgres-servers'),
            page('Reasons of the layout', '/internals/layout'),
            page('Own code', '/internals/own-code'),
            page('Glossary', '/internals/glossary'),
          ],
        },
      ],
      '/api/': [
        {
          text: 'API reference',
          items: [
            'daybook',
            'memory',
            'sqlite',
            'postgres',
            'koa',
            'node',
            'orm',
            'channels',
            'formats',
            'ledger',
            'workflow',
            'testing',
          ].map((entry) => page(entry === 'daybook' ? entry : `daybook/${entry}`, `/api/${entry}`)),
        },
      ],
    },
  },
}
