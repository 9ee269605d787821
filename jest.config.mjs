const project = (displayName, testMatch) => ({
  displayName,
  testMatch,
  rootDir: import.meta.dirname,
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      {
        jsc: { parser: { syntax: "typescript" }, target: "es2022" },
        module: { type: "es6" },
        sourceMaps: "inline",
      },
    ],
  },
  testEnvironmentOptions: { customExportConditions: ["source", "node", "node-addons"] },
  modulePathIgnorePatterns: ["<rootDir>/.*/dist/", "<rootDir>/.lapse/", "<rootDir>/.cache/"],
});

export default {
  // The first test of a run may have to start its servers, on a busy machine.
  testTimeout: 30_000,
  // Servers for tests (packages/test-kit): started when first asked for, ended after the run.
  globalSetup: "<rootDir>/packages/test-kit/run/global-setup.mjs",
  globalTeardown: "<rootDir>/packages/test-kit/run/global-teardown.mjs",
  projects: [
    project("unit", [
      "<rootDir>/{packages,services}/*/src/**/*.test.ts",
      "<rootDir>/deploy/local/src/**/*.test.ts",
    ]),
    project("service", [
      "<rootDir>/{packages,services}/*/test/**/*.test.ts",
      "<rootDir>/deploy/local/test/**/*.test.ts",
    ]),
    project("e2e", ["<rootDir>/test/**/*.test.ts"]),
  ],
};
