// @ts-nocheck Written by scripts/write-validator.ts; edit the schema, not this file.
/* c8 ignore start */

/** What is wrong at one place of the data, as ajv says it. */
export interface ShapeError {
  /** A JSON pointer (RFC 6901) into the data. */
  readonly instancePath: string
  /** Of JSON Schema. */
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  /** What stands there. */
  readonly data?: unknown
}

interface Validate {
  (data: unknown): boolean
  /** Of the last call; `null` if nothing was wrong. */
  readonly errors?: readonly ShapeError[] | null
}

const schema11 = {"type":"object","required":["customers"],"additionalProperties":false,"properties":{"customers":{"type":"array","items":{"type":"object","required":["name","password"],"additionalProperties":false,"properties":{"name":{"type":"string"},"password":{"type":"string","minLength":1},"quota":{"type":["integer","string"],"minimum":0,"maximum":9007199254740991},"maxFiles":{"type":"integer","minimum":0,"maximum":9007199254740991}}}}}};

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.customers === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "customers"},message:"must have required property '"+"customers"+"'",schema:schema11.required,parentSchema:schema11,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "customers")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema11,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.customers !== undefined){
let data0 = data.customers;
if(Array.isArray(data0)){
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.name === undefined){
const err2 = {instancePath:instancePath+"/customers/" + i0,schemaPath:"#/properties/customers/items/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'",schema:schema11.properties.customers.items.required,parentSchema:schema11.properties.customers.items,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data1.password === undefined){
const err3 = {instancePath:instancePath+"/customers/" + i0,schemaPath:"#/properties/customers/items/required",keyword:"required",params:{missingProperty: "password"},message:"must have required property '"+"password"+"'",schema:schema11.properties.customers.items.required,parentSchema:schema11.properties.customers.items,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
for(const key1 in data1){
if(!((((key1 === "name") || (key1 === "password")) || (key1 === "quota")) || (key1 === "maxFiles"))){
const err4 = {instancePath:instancePath+"/customers/" + i0,schemaPath:"#/properties/customers/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema11.properties.customers.items,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data1.name !== undefined){
let data2 = data1.name;
if(typeof data2 !== "string"){
const err5 = {instancePath:instancePath+"/customers/" + i0+"/name",schemaPath:"#/properties/customers/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.properties.customers.items.properties.name.type,parentSchema:schema11.properties.customers.items.properties.name,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data1.password !== undefined){
let data3 = data1.password;
if(typeof data3 === "string"){
if(data3.length < 1){
const err6 = {instancePath:instancePath+"/customers/" + i0+"/password",schemaPath:"#/properties/customers/items/properties/password/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema11.properties.customers.items.properties.password,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/customers/" + i0+"/password",schemaPath:"#/properties/customers/items/properties/password/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.properties.customers.items.properties.password.type,parentSchema:schema11.properties.customers.items.properties.password,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data1.quota !== undefined){
let data4 = data1.quota;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err8 = {instancePath:instancePath+"/customers/" + i0+"/quota",schemaPath:"#/properties/customers/items/properties/quota/type",keyword:"type",params:{type: schema11.properties.customers.items.properties.quota.type},message:"must be integer,string",schema:schema11.properties.customers.items.properties.quota.type,parentSchema:schema11.properties.customers.items.properties.quota,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 9007199254740991 || isNaN(data4)){
const err9 = {instancePath:instancePath+"/customers/" + i0+"/quota",schemaPath:"#/properties/customers/items/properties/quota/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema11.properties.customers.items.properties.quota,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data4 < 0 || isNaN(data4)){
const err10 = {instancePath:instancePath+"/customers/" + i0+"/quota",schemaPath:"#/properties/customers/items/properties/quota/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema11.properties.customers.items.properties.quota,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
if(data1.maxFiles !== undefined){
let data5 = data1.maxFiles;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
const err11 = {instancePath:instancePath+"/customers/" + i0+"/maxFiles",schemaPath:"#/properties/customers/items/properties/maxFiles/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema11.properties.customers.items.properties.maxFiles.type,parentSchema:schema11.properties.customers.items.properties.maxFiles,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 9007199254740991 || isNaN(data5)){
const err12 = {instancePath:instancePath+"/customers/" + i0+"/maxFiles",schemaPath:"#/properties/customers/items/properties/maxFiles/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema11.properties.customers.items.properties.maxFiles,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(data5 < 0 || isNaN(data5)){
const err13 = {instancePath:instancePath+"/customers/" + i0+"/maxFiles",schemaPath:"#/properties/customers/items/properties/maxFiles/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema11.properties.customers.items.properties.maxFiles,data:data5};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
}
else {
const err14 = {instancePath:instancePath+"/customers/" + i0,schemaPath:"#/properties/customers/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema11.properties.customers.items.type,parentSchema:schema11.properties.customers.items,data:data1};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
else {
const err15 = {instancePath:instancePath+"/customers",schemaPath:"#/properties/customers/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema11.properties.customers.type,parentSchema:schema11.properties.customers,data:data0};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
else {
const err16 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema11.type,parentSchema:schema11,data};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
validate10.errors = vErrors;
return errors === 0;
}

export const validate: Validate = validate10
/* c8 ignore stop */
