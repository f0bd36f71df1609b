// What a bright room emits from a world direction: warm floor, pale walls, a ceiling with
// one large soft lamp, scaled by the scene's ambient light. Rougher surfaces reflect it more blurred.
vec3 roomLight(vec3 direction, float roughness) {
  float blur = 0.08 + 0.9 * roughness;
  vec3 floorLight = vec3(0.42, 0.38, 0.34);
  vec3 wallLight = vec3(0.82, 0.84, 0.88);
  vec3 ceilingLight = vec3(1.05, 1.05, 1.08);
  vec3 light = mix(floorLight, wallLight, smoothstep(-blur, blur, direction.z + 0.1));
  light = mix(light, ceilingLight, smoothstep(0.55 - blur, 0.55 + blur, direction.z));
  float lamp = dot(direction, normalize(vec3(-0.35, 0.3, 0.9)));
  light += vec3(2.4, 2.3, 2.1) * (1.0 - 0.85 * roughness) *
           smoothstep(0.9 - 0.5 * blur, 0.9 + 0.12 * blur, lamp);
  return light * sceneBuffer.ambientLight.rgb;
}
