# Makes find_package(ament_cmake) work where ROS 2 was installed as Python wheels.
#
# The wheels fill the prefix of the virtual environment; the Python that sees them tells where
# that is. With a ROS 2 of the usual kind (/opt/ros/..., sourced) nothing is changed.

if(NOT Python3_EXECUTABLE AND EXISTS "$ENV{VIRTUAL_ENV}/bin/python")
  set(Python3_EXECUTABLE "$ENV{VIRTUAL_ENV}/bin/python")
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)

execute_process(
  COMMAND "${Python3_EXECUTABLE}" -c
          "import ament_package, ros_wheels_bootstrapper; print(ament_package.__file__)"
  OUTPUT_VARIABLE _ament_package
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)

if(_ament_package)
  # <prefix>/lib/pythonX.Y/site-packages/ament_package/__init__.py
  get_filename_component(_ros_prefix "${_ament_package}/../../../../.." ABSOLUTE)
  message(STATUS "ROS 2 wheels in ${_ros_prefix}")
  list(PREPEND CMAKE_PREFIX_PATH "${_ros_prefix}")
  set(ENV{AMENT_PREFIX_PATH} "${_ros_prefix}:$ENV{AMENT_PREFIX_PATH}")
  # Distributions patch where Python installs by default; inside a prefix of our own it is this.
  set(PYTHON_INSTALL_DIR
      "lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/site-packages")
endif()

# The wheels' CMake files name include directories of the machine that built them.
function(drop_foreign_include_directories)
  foreach(package IN LISTS ARGN)
    set(target "${package}::${package}__rosidl_generator_py")
    if(TARGET ${target})
      get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
      if(directories)
        list(FILTER directories EXCLUDE REGEX "^/opt/python/")
        set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${directories}")
      endif()
    endif()
  endforeach()
endfunction()
