/**
 * What an application can import: subpath → entry file under src/, without `.ts`. A new subpath is one line here, then
 * `npm run sync-exports`, which writes package.json's `exports` and `typesVersions` and tsconfig.json's `paths` from it.
 */
export const SUBPATHS = {
  '.': 'index',
  './conformance': 'conformance/index',
  './redis': 'coordination/redis/index',
  './postgres': 'coordination/postgres/index',
  './sqlite': 'coordination/sqlite/index',
  './testing': 'testing/index',
};

export const PACKAGE_NAME = 'nestjs-distributed-cron';

/** `./sqlite` → `nestjs-distributed-cron/sqlite` */
export const specifierOf = (subpath) => PACKAGE_NAME + subpath.slice(1);

/**
 * `module-sync` comes first: a runtime that can require an ES module then takes the same copy for `import` and `require`, so
 * a process that does both holds one library and not two.
 */
export function packageExports() {
  const target = (format, entry) => ({
    types: `./dist/${format}/${entry}.d.ts`,
    default: `./dist/${format}/${entry}.js`,
  });
  const conditions = (entry) => ({
    'module-sync': target('esm', entry),
    import: target('esm', entry),
    require: target('cjs', entry),
  });
  return {
    ...Object.fromEntries(Object.entries(SUBPATHS).map(([subpath, entry]) => [subpath, conditions(entry)])),
    './package.json': './package.json',
  };
}

/** For applications that compile with `moduleResolution: node10`, which does not read `exports`. */
export function typesVersions() {
  const inner = Object.entries(SUBPATHS).filter(([subpath]) => subpath !== '.');
  return {
    '*': Object.fromEntries(inner.map(([subpath, entry]) => [subpath.slice(2), [`./dist/cjs/${entry}.d.ts`]])),
  };
}

/** So that specs, the sample application and the documentation's snippets are type checked against the sources. */
export function sourcePaths() {
  return Object.fromEntries(
    Object.entries(SUBPATHS).map(([subpath, entry]) => [specifierOf(subpath), [`./src/${entry}.ts`]]),
  );
}
