import type { PostgresPool } from '../connection/client.js'
import type { EndedPool } from '../connection/pools.js'

/** A node of a cluster. */
export interface Node {
  readonly address: string
  readonly pool: PostgresPool
  /** How many connections have ended. After each, a log may be on another node. */
  losses(): number
}

/** The nodes of a cluster that logs are on. */
export interface Nodes {
  /** Opens each node once. */
  open(address: string): Node
  end(): Promise<void>
}

export function createNodes(openPool: (address: string, onLoss: () => void) => EndedPool): Nodes {
  const pools: EndedPool[] = []
  const nodes = new Map<string, Node>()

  const open = (address: string): Node => {
    let losses = 0
    const pool = openPool(address, () => losses++)
    pools.push(pool)
    const node = { address, pool, losses: () => losses }
    nodes.set(address, node)
    return node
  }

  return {
    open: (address) => nodes.get(address) ?? open(address),
    async end() {
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}
