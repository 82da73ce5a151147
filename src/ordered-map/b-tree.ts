// The ordered tree of sorted-btree, for all runtimes. The package is CommonJS and its class the default member: Node and Deno
// hand an ES module the whole of it, Bun (and a bundler that follows `__esModule`) that member.
import BTreeModule from 'sorted-btree'

type Module = typeof BTreeModule

export const BTree: Module['default'] = typeof BTreeModule === 'function' ? BTreeModule : BTreeModule.default
